// What is seen of a process on a disk that fails, and whether that is what the fault must come to.
import assert from "node:assert/strict";
import type { Report } from "../../support/kill/object-writer.ts";
import type { Ledger } from "../../support/kill/write-journal.ts";
import type { Meaning } from "./faults.ts";
import type { Tale, Trouble } from "./writer.ts";

const internal = 10001;
const unavailable = 10043;
const full = 10044;

export interface Observed {
  readonly acknowledged: number;
  /** Whether somebody was told that the process takes no more writes. */
  readonly fenced: boolean;
  readonly fullTroubles: number;
  readonly troubles: readonly Trouble[];
  /** Of the writes tried once the disk worked again. */
  readonly probes: readonly (Trouble | null)[];
}

export interface Observer {
  hear(told: Report | Tale): void;
  /** Does something once so many reports were heard. */
  after(reports: number, act: () => void): void;
  /** A directory that did not open, and then did: what was wrong went with the first process. */
  open(trouble: Trouble): void;
  observed(): Observed;
}

/** Everything is held against the rules as it is heard: what comes behind a fence, torn bodies, other errors. */
export function createObserver(ledger: Ledger): Observer {
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
      assert.ok(!fenced, `acknowledged behind a failed sync: ${JSON.stringify(report)}`);
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
      } else if (told.told === "torn") assert.fail(`a read gave a body that nobody wrote: "${told.key}"`);
      else if (told.told === "probed") probes = told.troubles;
    },
    after(reports, act) {
      waiting = { left: reports, act };
    },
    open(trouble) {
      // Before there is a store, the system's own words are as clear as any.
      if (!/^E[A-Z]+: /.test(trouble.message)) assertClear(trouble);
    },
    observed() {
      const fullTroubles = troubles.filter(({ code }) => code === full).length;
      return { acknowledged, fenced, fullTroubles, troubles, probes };
    },
  };
}

/** What SQLite takes a database for that the disk refuses to read. */
function isDamage({ code, message }: Trouble): boolean {
  return code === internal && message.includes("The stored data is damaged");
}

function isFence({ code, message }: Trouble): boolean {
  return code === unavailable && message.includes("could not be made durable");
}

function wordsOf({ name, message, cause }: Trouble): string {
  return `${name}: ${message} Behind it: ${cause}`;
}

/** Where SQLite syncs a folder once more, behind us, and keeps the failure to itself: the first sync held. */
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
  if (means === "fenced" && hits > 0 && !mayGoOn) assert.ok(areRefused, `it is fenced: ${told}`);
  else if (mayGoOn) assert.ok(fenced ? areRefused : areRefused || allWork, `it is one or the other: ${told}`);
  else assert.ok(allWork, `it works again once the disk does: ${told}`);
  const codes = new Set(troubles.map(({ code }) => code));
  if (means === "full") assert.ok(!codes.has(unavailable), `a full disk is called one: ${told}`);
  else
    assert.ok(
      !codes.has(full) && (means === "either" || !codes.has(internal)),
      `it is not called something else: ${told}`,
    );
}
