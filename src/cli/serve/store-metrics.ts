// Metrics of the stored data and of the scrub. Counting a large cluster is slow, so totals are
// measured on demand, for at most 2 % of the time, and reported with their age.
import type { Engine } from "../../engine/engine.ts";
import type { ScrubProgress } from "../../engine/maintenance/reports.ts";
import type { Totals } from "../../engine/records.ts";
import { createMetrics } from "../../metrics/metrics.ts";
import type { Snapshot } from "../../metrics/snapshot.ts";
import type { Quota, Usage } from "../../model/settings/quota.ts";

export interface StoreMetrics {
  /** Starts a measurement when due, waits for it briefly, and returns the latest result. */
  snapshot(): Promise<Snapshot>;
  /** Returns the totals of each bucket from the last measurement. */
  totals(): ReadonlyMap<string, Totals>;
}

interface Measurement {
  readonly at: number;
  readonly totals: ReadonlyMap<string, Totals>;
  readonly namespaces: ReadonlyMap<string, Totals>;
  readonly scrub: ScrubProgress | undefined;
  /** Quotas by kind ("bucket", "account") and name. */
  readonly quotas: readonly MeasuredQuota[];
}

interface MeasuredQuota {
  readonly labels: readonly [kind: string, name: string];
  readonly quota: Quota;
  readonly usage: Usage;
}

const minIdleMilliseconds = 1000;
/** The pause after a measurement is this many times its duration. */
const idleFactor = 50;
const maxWaitMilliseconds = 1000;

export function createStoreMetrics(engine: Engine): StoreMetrics {
  let last: Measurement | undefined;
  let dueAt = 0;
  let inFlight: Promise<void> | undefined;
  const metrics = createMetrics();
  registerMetrics(() => last);

  async function measure(): Promise<void> {
    const begin = performance.now();
    try {
      const totals = await measureAll(await engine.listBuckets(), (name) => engine.totals(name));
      const listed = await engine.kv.listNamespaces();
      const namespaces = await measureAll(listed, (name) => engine.kv.totals(name));
      const quotas = await measureQuotas(engine, [...totals.keys()]);
      last = { at: Date.now(), totals, namespaces, scrub: await engine.scrubProgress(), quotas };
    } catch {
      // The store is unavailable: keep the last measurement, which is reported with its age.
    } finally {
      const took = performance.now() - begin;
      dueAt = performance.now() + Math.max(minIdleMilliseconds, idleFactor * took);
      inFlight = undefined;
    }
  }

  function registerMetrics(latest: () => Measurement | undefined): void {
    const perBucket = (name: string, help: string, value: (totals: Totals) => number) =>
      metrics.addReading({ name, help, labels: ["bucket"] }, "gauge", () =>
        [...(latest()?.totals ?? [])].map(([bucket, totals]) => [[bucket], value(totals)] as const),
      );
    const perNamespace = (name: string, help: string, value: (totals: Totals) => number) =>
      metrics.addReading({ name, help, labels: ["namespace"] }, "gauge", () =>
        [...(latest()?.namespaces ?? [])].map(([namespace, totals]) => [[namespace], value(totals)] as const),
      );
    const gauge = (name: string, help: string, value: (measurement: Measurement) => number | undefined) =>
      metrics.addReading({ name, help }, "gauge", () => {
        const measurement = latest();
        const number = measurement && value(measurement);
        return number === undefined ? [] : [[[], number] as const];
      });
    gauge("store_buckets", "Buckets in the store.", ({ totals }) => totals.size);
    perBucket("store_bucket_objects", "Objects in a bucket.", ({ objects }) => objects);
    perBucket("store_bucket_bytes", "Bytes of a bucket's objects.", ({ bytes }) => bytes);
    perBucket(
      "store_bucket_noncurrent_versions",
      "Noncurrent versions and delete markers in a bucket.",
      ({ noncurrentVersions }) => noncurrentVersions,
    );
    perBucket(
      "store_bucket_noncurrent_bytes",
      "Bytes of a bucket's noncurrent versions.",
      ({ noncurrentBytes }) => noncurrentBytes,
    );
    const perQuota = (name: string, help: string, value: (quota: MeasuredQuota) => number | undefined) =>
      metrics.addReading({ name, help, labels: ["kind", "name"] }, "gauge", () =>
        (latest()?.quotas ?? []).flatMap((quota) => {
          const number = value(quota);
          return number === undefined ? [] : [[quota.labels, number] as const];
        }),
      );
    perQuota("store_quota_bytes", "Maximum bytes of a bucket or account.", ({ quota }) => quota.bytes);
    perQuota("store_quota_objects", "Maximum objects of a bucket or account.", ({ quota }) => quota.objects);
    perQuota("store_quota_used_bytes", "Bytes that count for the quota.", ({ usage }) => usage.bytes);
    perQuota("store_quota_used_objects", "Objects that count for the quota.", ({ usage }) => usage.objects);
    perNamespace("store_kv_keys", "Keys in a key-value namespace.", ({ objects }) => objects);
    perNamespace("store_kv_bytes", "Bytes of a key-value namespace's values.", ({ bytes }) => bytes);
    gauge("store_totals_age_seconds", "Age of the bucket totals.", ({ at }) =>
      Math.max(0, (Date.now() - at) / 1000),
    );
    gauge("store_scrub_running", "1 while a scrub is running.", ({ scrub }) =>
      scrub?.isRunning === true ? 1 : 0,
    );
    gauge("store_scrub_objects", "Objects read by the running scrub.", ({ scrub }) =>
      scrub?.round === undefined ? 0 : scrub.round.objects,
    );
    gauge("store_scrub_bytes", "Bytes read by the running scrub.", ({ scrub }) =>
      scrub?.round === undefined ? 0 : scrub.round.bytes,
    );
    gauge("store_scrub_damages", "Damaged items found by the running or the last scrub.", ({ scrub }) =>
      Math.max(scrub?.round?.damages ?? 0, scrub?.last?.damages ?? 0),
    );
    gauge("store_scrub_last_end_timestamp_seconds", "When the last scrub ended.", ({ scrub }) =>
      scrub?.last === undefined ? undefined : scrub.last.ended / 1000,
    );
  }

  return {
    async snapshot() {
      if (inFlight === undefined && performance.now() >= dueAt) inFlight = measure();
      if (inFlight !== undefined) await waitUpTo(maxWaitMilliseconds, inFlight);
      return metrics.snapshot();
    },
    totals: () => last?.totals ?? new Map(),
  };
}

async function waitUpTo(milliseconds: number, work: Promise<void>): Promise<void> {
  let late: NodeJS.Timeout | undefined;
  const tooLate = new Promise<void>((resolve) => {
    late = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work, tooLate]);
  clearTimeout(late);
}

async function measureQuotas(engine: Engine, buckets: readonly string[]): Promise<MeasuredQuota[]> {
  const measured: MeasuredQuota[] = [];
  for (const { account, quota } of await engine.quotas.accountQuotas())
    measured.push({ labels: ["account", account], quota, usage: await engine.quotas.accountUsage(account) });
  for (const name of buckets) {
    const quota = (await engine.bucket(name).catch(() => undefined))?.settings.quota;
    const usage = quota && (await engine.quotas.bucketUsage(name).catch(() => undefined));
    if (usage !== undefined) measured.push({ labels: ["bucket", name], quota: quota!, usage });
  }
  return measured;
}

/** Omits buckets and namespaces that are damaged or were deleted meanwhile. */
async function measureAll(
  listed: readonly { readonly name: string }[],
  measure: (name: string) => Promise<Totals>,
): Promise<Map<string, Totals>> {
  const totals = new Map<string, Totals>();
  for (const { name } of listed) {
    const found = await measure(name).catch(() => undefined);
    if (found !== undefined) totals.set(name, found);
  }
  return totals;
}
