// Counts what a store contains, for a limited time: counting a large cluster is slow.
import type { Engine } from "../../engine/engine.ts";
import { StoreError } from "../../model/errors.ts";

export interface StoreTotals {
  readonly buckets: number;
  readonly namespaces: number;
  readonly objects: number;
  readonly bytes: number;
  readonly noncurrentBytes: number;
  /** Number of buckets that were counted: fewer than all if the time was up. */
  readonly countedBuckets: number;
}

const maxMilliseconds = 5000;

export async function countStore(engine: Engine, milliseconds = maxMilliseconds): Promise<StoreTotals> {
  const until = performance.now() + milliseconds;
  const buckets = await engine.listBuckets();
  const namespaces = await engine.kv.listNamespaces();
  const sum = { objects: 0, bytes: 0, noncurrentBytes: 0, countedBuckets: 0 };
  for (const { name } of buckets) {
    if (performance.now() > until) break;
    try {
      const { objects, bytes, noncurrentBytes } = await engine.totals(name);
      sum.objects += objects;
      sum.bytes += bytes;
      sum.noncurrentBytes += noncurrentBytes;
      sum.countedBuckets++;
    } catch (error) {
      // Deleted meanwhile or damaged; `store verify` reports damage.
      if (!(error instanceof StoreError)) throw error;
    }
  }
  return { buckets: buckets.length, namespaces: namespaces.length, ...sum };
}
