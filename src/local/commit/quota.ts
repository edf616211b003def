// The bucket's quota inside the writer's transaction. A change that could exceed it is applied in a
// savepoint, so that it can be undone alone: the totals are known only after its mutations.
import { exceedsQuota, parseQuota, type Quota, type Usage } from "../../model/settings/quota.ts";
import { noSetting } from "../index/schema.ts";
import { corruptionError } from "../index/sqlite.ts";
import { verifyText } from "../rows/checksum.ts";
import type { ApplyStatements } from "./apply-statements.ts";
import type { WireChange } from "./change.ts";
import { resetTally, type Tally } from "./tally.ts";

export interface QuotaGuard {
  /** Sets the stored text of the setting, as of the current transaction. */
  setQuota(text: unknown): void;
  /** Called before the first change of a transaction. */
  begin(): void;
  /** Applies the mutations of a change. Returns false if they were undone. */
  apply(change: WireChange, mutateAll: (change: WireChange) => void): boolean;
}

const noQuota = noSetting("quota");

export function createQuotaGuard(sql: ApplyStatements, tally: Tally): QuotaGuard {
  let text: unknown = noQuota;
  let quota: Quota | undefined;
  /** The totals before the current transaction. Undefined until a change needs them. */
  let base: Usage | undefined;

  function usage(): Usage {
    if (base === undefined) {
      const [objects, bytes] = sql.totals.get()!;
      base = { objects, bytes };
    }
    return {
      bytes: base.bytes + tally.bytes + tally.noncurrentBytes,
      objects: base.objects + tally.objects + tally.noncurrent,
    };
  }

  function applyOrUndo(limit: Quota, change: WireChange, mutateAll: (change: WireChange) => void): boolean {
    const before = usage();
    const saved = { ...tally };
    sql.savepoint.run();
    mutateAll(change);
    const isOver = exceedsQuota(limit, before, usage());
    if (isOver) {
      sql.undoToSavepoint.run();
      resetTally(tally, saved);
    }
    sql.releaseSavepoint.run();
    return !isOver;
  }

  return {
    setQuota(stored) {
      if (stored === text) return;
      quota = stored === noQuota ? undefined : readQuota(stored);
      text = stored;
    },
    begin() {
      base = undefined;
    },
    apply(change, mutateAll) {
      if (quota !== undefined && mayExceed(quota, usage(), change))
        return applyOrUndo(quota, change, mutateAll);
      mutateAll(change);
      return true;
    },
  };
}

/** Far from the quota, no change needs a savepoint. */
function mayExceed(quota: Quota, before: Usage, { mutations }: WireChange): boolean {
  let bytes = 0;
  let isPut = false;
  for (const mutation of mutations) {
    if (mutation.kind !== "put object" && mutation.kind !== "put copy") continue;
    bytes += mutation.size;
    isPut = true;
  }
  const after = { bytes: before.bytes + bytes, objects: before.objects + mutations.length };
  return isPut && exceedsQuota(quota, before, after);
}

function readQuota(stored: unknown): Quota {
  const quota = parseQuota(JSON.parse(verifyText(stored, "the bucket's quota", "quota")));
  if (quota === undefined) throw corruptionError("The bucket's quota");
  return quota;
}
