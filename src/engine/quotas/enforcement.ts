// Enforces quotas. A bucket's quota is checked by its commit, an account's quota before the commit,
// because the account's buckets share no transaction. See docs/decisions/019-quotas.md.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Metrics } from "../../metrics/metrics.ts";
import type { Bucket } from "../../model/bucket.ts";
import { StoreError } from "../../model/errors.ts";
import type { Key } from "../../model/key.ts";
import { isNamespaceBucket } from "../../model/key-value.ts";
import { exceedsQuota, type Quota, type Usage } from "../../model/settings/quota.ts";
import { nullVersion } from "../../model/version.ts";
import { type Change, type Check, needsQuota, type Records } from "../records.ts";
import { type AccountQuotas, sumUsage } from "./account-quotas.ts";
import { type AccountUsage, createAccountUsage } from "./account-usage.ts";

export interface QuotaEnforcement {
  /** Commits a change that puts objects. Throws QuotaExceeded if it exceeds a quota. */
  commit(bucket: Bucket, change: Change): Promise<"committed" | "conflict">;
  /**
   * Near the quota of objects, throws QuotaExceeded for delete markers on keys without an object, and
   * returns checks that each of the others hides an object. So markers at most double the objects.
   */
  markerChecks(bucket: Bucket, keys: readonly Key[]): Promise<readonly Check[]>;
  /** Throws QuotaExceeded if a body of this length cannot be committed, before it is received. */
  checkLength(bucket: Bucket, key: Key, length: number): Promise<void>;
}

/** A shorter body is received without an early check: the commit checks it. */
export const earlyCheckBytes = 64 * 1024;
/** Keys that are read in one turn of the event loop. */
const keysPerTurn = 64;

interface Dependencies {
  readonly records: Records;
  readonly accounts: AccountQuotas;
  readonly metrics: Metrics;
  readonly now: () => number;
}

export function createQuotaEnforcement({ records, accounts, metrics, now }: Dependencies): QuotaEnforcement {
  const refusals = metrics.counter({
    name: "store_quota_refusals_total",
    help: "Writes refused because of the quota of the bucket or of its account.",
    labels: ["bucket"],
  });
  const usages = new Map<string, AccountUsage>();

  function usageOf(account: string): AccountUsage {
    const found = usages.get(account);
    if (found !== undefined) return found;
    const created = createAccountUsage(() => sumUsage(records, account, records.usage), now);
    usages.set(account, created);
    return created;
  }

  function refuse(bucket: Bucket, account?: string): never {
    refusals(bucket.name).add(1);
    throw account === undefined ? new StoreError("QuotaExceeded") : accountError(account);
  }

  async function commitCounted(bucket: Bucket, change: Change): Promise<"committed" | "conflict"> {
    try {
      return await records.commit(bucket.name, change);
    } catch (error) {
      if (error instanceof StoreError && error.reason === "QuotaExceeded") refuse(bucket);
      throw error;
    }
  }

  /** Subtracts what the puts replace. Reads the objects, so this is done only near the quota. */
  async function netGrowth({ name, settings }: Bucket, puts: readonly Put[]): Promise<Usage> {
    const growth = grossGrowth(puts);
    if (settings.versioning === "on") return growth;
    let { bytes, objects } = growth;
    for (const { key } of puts) {
      const replaced = await records.object(name, key);
      if (replaced === undefined || replaced.isVersioned === true) continue;
      bytes -= replaced.size;
      objects--;
    }
    return { bytes, objects };
  }

  async function exceeds(
    bucket: Bucket,
    puts: readonly Put[],
    quota: Quota,
    before: Usage,
  ): Promise<boolean> {
    if (!exceedsQuota(quota, before, sum(before, grossGrowth(puts)))) return false;
    return exceedsQuota(quota, before, sum(before, await netGrowth(bucket, puts)));
  }

  async function commitInAccount(bucket: Bucket, change: Change, quota: Quota) {
    const growth = changeGrowth(change);
    const usage = usageOf(bucket.account);
    const refreshed = usage.refresh(quota, growth);
    if (refreshed !== undefined) await refreshed;
    // Without a pause between check and `begin`, so that puts of one process never exceed the quota.
    const before = usage.current();
    if (exceedsQuota(quota, before, sum(before, growth))) {
      const puts = change.mutations.filter(needsQuota).map(({ record }) => record);
      if (await exceeds(bucket, puts, quota, before)) refuse(bucket, bucket.account);
    }
    const end = usage.begin(growth);
    try {
      const outcome = await commitCounted(bucket, change);
      end(outcome === "committed" ? "committed" : "not committed");
      return outcome;
    } catch (error) {
      end("not committed");
      throw error;
    }
  }

  /** Whether delete markers for all keys would exceed a quota, and which. */
  async function findMarkerQuota(
    bucket: Bucket,
    keys: readonly Key[],
  ): Promise<"bucket" | "account" | undefined> {
    const growth = { bytes: 0, objects: keys.length };
    const { quota } = bucket.settings;
    if (quota?.objects !== undefined) {
      const before = await records.usage(bucket.name);
      if (exceedsQuota(quota, before, sum(before, growth))) return "bucket";
    }
    const { quota: accountQuota } = await accounts.find(bucket.account);
    if (accountQuota?.objects === undefined) return undefined;
    const usage = usageOf(bucket.account);
    await usage.refresh(accountQuota, growth);
    const before = usage.current();
    return exceedsQuota(accountQuota, before, sum(before, growth)) ? "account" : undefined;
  }

  return {
    async markerChecks(bucket, keys) {
      const exceeded = await findMarkerQuota(bucket, keys);
      if (exceeded === undefined) return [];
      const checks: Check[] = [];
      for (const [i, key] of keys.entries()) {
        if (i > 0 && i % keysPerTurn === 0) await nextTurn();
        const hidden = await records.object(bucket.name, key);
        if (hidden === undefined) {
          // Without versioning, a marker replaces the null version, which may itself be a marker.
          const isReplaced =
            bucket.settings.versioning !== "on" && (await records.version(bucket.name, key, nullVersion));
          if (!isReplaced) refuse(bucket, exceeded === "account" ? bucket.account : undefined);
        }
        checks.push({ kind: "object", key, version: hidden?.version });
      }
      return checks;
    },
    async commit(bucket, change) {
      const found = accounts.find(bucket.account);
      const { quota } = "at" in found ? found : await found;
      if (quota === undefined || isNamespaceBucket(bucket.name)) return await commitCounted(bucket, change);
      return commitInAccount(bucket, change, quota);
    },
    async checkLength(bucket, key, length) {
      const puts = [{ key, size: length }];
      const { quota } = bucket.settings;
      if (quota !== undefined && (await exceeds(bucket, puts, quota, await records.usage(bucket.name))))
        refuse(bucket);
      const { quota: accountQuota } = await accounts.find(bucket.account);
      if (accountQuota === undefined || isNamespaceBucket(bucket.name)) return;
      const usage = usageOf(bucket.account);
      await usage.refresh(accountQuota, grossGrowth(puts));
      if (await exceeds(bucket, puts, accountQuota, usage.current())) refuse(bucket, bucket.account);
    },
  };
}

interface Put {
  readonly key: Key;
  readonly size: number;
}

function changeGrowth({ mutations }: Change): Usage {
  let bytes = 0;
  let objects = 0;
  for (const mutation of mutations) {
    if (!needsQuota(mutation)) continue;
    bytes += mutation.record.size;
    objects++;
  }
  return { bytes, objects };
}

function grossGrowth(puts: readonly Put[]): Usage {
  let bytes = 0;
  for (const { size } of puts) bytes += size;
  return { bytes, objects: puts.length };
}

function sum(a: Usage, b: Usage): Usage {
  return { bytes: a.bytes + b.bytes, objects: a.objects + b.objects };
}

function accountError(account: string): StoreError {
  return new StoreError("QuotaExceeded", {
    detail:
      `The quota of the account "${account}" is used up: delete objects and old versions in its buckets ` +
      "or raise the quota, then try again.",
  });
}
