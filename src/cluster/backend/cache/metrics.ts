// Metrics of the body cache.
import type { Counter, Metrics } from "../../../metrics/metrics.ts";

export interface CacheMetrics {
  readonly hits: Counter;
  readonly misses: Counter;
  readonly damages: Counter;
  /** Reads that go to the blob backend without the cache: too long, too many, or a failed disk. */
  readonly bypasses: Counter;
  readonly readBytes: Counter;
  readonly writtenBytes: Counter;
  readonly evictions: Counter;
}

export function createCacheMetrics(metrics: Metrics): CacheMetrics {
  const lookups = metrics.counter({
    name: "store_body_cache_lookups_total",
    help: "Extents of bodies that were looked up in the cache, by outcome: hit, miss, damaged or bypass.",
    labels: ["outcome"],
  });
  const bytes = metrics.counter({
    name: "store_body_cache_bytes_total",
    help: "Bytes of bodies that were read from the cache and written to it.",
    labels: ["direction"],
  });
  const evictions = metrics.counter({
    name: "store_body_cache_evictions_total",
    help: "Extents of bodies that were evicted from the cache.",
  });
  return {
    hits: lookups("hit"),
    misses: lookups("miss"),
    damages: lookups("damaged"),
    bypasses: lookups("bypass"),
    readBytes: bytes("read"),
    writtenBytes: bytes("written"),
    evictions: evictions(),
  };
}
