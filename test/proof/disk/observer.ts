// Records the reports of a process on a failing disk and checks them against the fault's effect.
import assert from "node:assert/strict";
import type { Report } from "../../../src/prove/kill/object-writer.ts";
import type { WriteJournal } from "../../../src/prove/kill/write-journal.ts";
import type { Meaning } from "./faults.ts";
import type { Tale, Trouble } from "./writer.ts";

const internal = 10001;
const unavailable = 10043;
const full = 10044;

export interface Observed {
  readonly acknowledged: number;
  /** Whether an error reported that the process stopped accepting writes. */
  readonly fenced: boolean;
  readonly fullTroubles: number;
  readonly troubles: readonly Trouble[];
  /** Results of the writes after the disk works again: an error, or null for success. */
  readonly probes: readonly (Trouble | null)[];
}

export interface Observer {
  hear(told: Report | Tale): void;
  /** Calls `act` once this many reports have arrived. */
  after(reports: number, act: () => void): void;
  /** Checks the error of a failed open; it does not count among the errors of the running store. */
  open(trouble: Trouble): void;
  observed(): Observed;
}

/** Checks reports on arrival: acknowledgements after a write stop, torn bodies, unclear errors. */
export function createObserver(ledger: WriteJournal): Observer {
  const troubles: Trouble[] = [];
  let acknowledged = 0;
  let fenced = false;
  let probes: readonly (Trouble | null)[] = [];
  let waiting: { left: number; act(): void } | undefined;

  function assertClear(trouble: Trouble): void {
    const isClear = trouble.code === unavailable || trouble.code === full || isDamage(trouble);
    assert.ok(isClear, `not a clear error: ${wordsOf(trouble)}`);
  }

  function hearTrouble(trouble: Trouble): void {
    assertClear(trouble);
    troubles.push(trouble);
    if (isFence(trouble)) fenced = true;
  }

  function hearReport(report: Report): void {
    if (report.said === "done" || report.said === "part")
      assert.ok(!fenced, `acknowledged after a failed sync: ${JSON.stringify(report)}`);
    acknowledged += ledger.learn(report);
    if (waiting !== undefined && --waiting.left === 0) waiting.act();
  }

  return {
    hear(told) {
      if (!("told" in told)) hearReport(told);
      else if (told.told === "trouble") {
        const isRefusedDelete = told.while === "deleting";
        assert.ok(
          !isRefusedDelete,
          `a delete was refused: ${told.told === "trouble" && wordsOf(told.trouble)}`,
        );
        hearTrouble(told.trouble);
      } else if (told.told === "torn")
        assert.fail(`a read returned a body that was never written: "${told.key}"`);
      else if (told.told === "probed") probes = told.troubles;
    },
    after(reports, act) {
      waiting = { left: reports, act };
    },
    open(trouble) {
      // Before the store is open, a plain system error is clear enough.
      if (!/^E[A-Z]+: /.test(trouble.message)) assertClear(trouble);
    },
    observed() {
      const fullTroubles = troubles.filter(({ code }) => code === full).length;
      return { acknowledged, fenced, fullTroubles, troubles, probes };
    },
  };
}

/** Whether the error reports damage, as when the disk refuses to read a database. */
function isDamage({ code, message }: Trouble): boolean {
  return code === internal && message.includes("The stored data is damaged");
}

function isFence({ code, message }: Trouble): boolean {
  return code === unavailable && message.includes("could not be made durable");
}

function wordsOf({ name, message, cause }: Trouble): string {
  return `${name}: ${message} Cause: ${cause}`;
}

/** Whether SQLite syncs the folder again, after the store's own sync, and ignores a failure. */
function isSyncedTwice(file: string): boolean {
  return /\/buckets\/[0-9a-f]{16}$|\/store-\d+$/.test(file);
}

export function assertMeaning(
  means: Meaning,
  { hits, file }: { readonly hits: number; readonly file: string },
  observed: Observed,
): void {
  const { fenced, troubles, probes } = observed;
  const told = JSON.stringify({ hits, file, troubles: troubles.slice(0, 3), probes });
  const areRefused = probes.every((trouble) => trouble !== null && isFence(trouble));
  const allWork = probes.every((trouble) => trouble === null);
  const mayGoOn = means === "either" || (means === "fenced" && isSyncedTwice(file));
  if (means === "fenced" && hits > 0 && !mayGoOn)
    assert.ok(areRefused, `writes are refused after the fault: ${told}`);
  else if (mayGoOn)
    assert.ok(fenced ? areRefused : areRefused || allWork, `all writes are refused or all succeed: ${told}`);
  else assert.ok(allWork, `writes succeed after the disk works again: ${told}`);
  const codes = new Set(troubles.map(({ code }) => code));
  if (means === "full") assert.ok(!codes.has(unavailable), `a full disk is reported as full: ${told}`);
  else
    assert.ok(
      !codes.has(full) && (means === "either" || !codes.has(internal)),
      `the fault is not reported as another kind: ${told}`,
    );
}
