// Caches repeated reads of a bucket until the next commit. Detecting a commit with the log's change
// counter costs a fifth of the smallest query. With frequent commits, objects bypass the cache.
import { performance } from "node:perf_hooks";
import process from "node:process";
import type { ObjectWithBody } from "../../engine/records.ts";
import type { Bucket } from "../../model/bucket.ts";
import type { ObjectRecord } from "../../model/object.ts";
import type { WalChangeCounter } from "./wal-change-counter.ts";

/** Each method returns the cached value or calls `read`. Undefined is never cached. */
export interface ReadCache {
  bucket(read: () => Bucket | undefined): Bucket | undefined;
  /** Whether the bucket exists. That it was deleted is never cached. */
  exists(read: () => boolean): boolean;
  object(key: string, read: () => ObjectRecord | undefined): ObjectRecord | undefined;
  objectWithBody(key: string, read: () => ObjectWithBody | undefined): ObjectWithBody | undefined;
  /** Drops all entries. */
  close(): void;
}

/** Limits the cache entries of all buckets together: with small bodies, to a few megabytes. */
export interface CacheBudget {
  /** Called before an entry is added; at the limit the entries of all buckets are dropped. */
  addEntry(): void;
  /** Registers `clear`, which drops all entries of a cache. Returns the unsubscribe function. */
  subscribe(clear: () => void): () => void;
}

export function createCacheBudget(maxEntries = 2048): CacheBudget {
  const listeners = new Set<() => void>();
  let used = 0;
  return {
    addEntry() {
      if (++used <= maxEntries) return;
      for (const clear of listeners) clear();
      used = 1;
    },
    subscribe(clear) {
      listeners.add(clear);
      return () => listeners.delete(clear);
    },
  };
}

interface CacheEntry<T> {
  /** Number of commits that had been noticed when the value was read. */
  readonly generation: number;
  readonly value: T;
}

/** Marks a key that was read once. The second read caches its value. */
const admissionMarker: CacheEntry<never> = { generation: -1, value: undefined as never };

/** With fewer hits between two commits, caching does not pay: the next reads bypass the cache. */
const minHits = 16;
const bypassReads = 256;

export function createReadCache(changeCounter: WalChangeCounter, cacheBudget: CacheBudget): ReadCache {
  /** Number of commits that have been noticed. */
  let generation = 0;
  /** The generation that `hits` counts. */
  let counted = 0;
  let hits = 0;
  let bypassLeft = 0;

  function noticeCommits(): number {
    if (changeCounter.hasChanged()) generation++;
    return generation;
  }

  function currentGeneration(): number {
    const now = noticeCommits();
    if (now === counted) return now;
    if (hits < minHits) bypassLeft = bypassReads;
    counted = now;
    hits = 0;
    return now;
  }

  function readThrough<T>(
    entries: Map<string, CacheEntry<T>>,
    name: string,
    read: () => T | undefined,
    isCacheable: (value: T) => boolean,
  ): T | undefined {
    if (bypassLeft > 0) {
      bypassLeft--;
      return read();
    }
    const entry = entries.get(name);
    if (entry === undefined) {
      cacheBudget.addEntry();
      entries.set(name, admissionMarker);
      return read();
    }
    // The counter is read before the value, so that the next check notices a commit in between.
    const now = currentGeneration();
    if (entry.generation === now) {
      hits++;
      return entry.value;
    }
    const value = read();
    entries.set(
      name,
      value !== undefined && isCacheable(value) ? { generation: now, value } : admissionMarker,
    );
    return value;
  }

  let settings: CacheEntry<Bucket> | undefined;

  /** Never bypassed: every write reads the settings, and commits contain many writes. */
  function readSettings(read: () => Bucket | undefined): Bucket | undefined {
    const now = noticeCommits();
    if (settings?.generation === now) return settings.value;
    const value = read();
    settings = value && { generation: now, value };
    return value;
  }

  const existing = new Map<string, CacheEntry<true>>();
  const objects = new Map<string, CacheEntry<ObjectRecord>>();
  const bodies = new Map<string, CacheEntry<ObjectWithBody>>();
  const clear = () => {
    for (const entries of [existing, objects, bodies]) entries.clear();
    settings = undefined;
    tickCache.clear();
  };
  const tickCache = createTickCache<Bucket>();
  const unsubscribe = cacheBudget.subscribe(clear);
  return {
    bucket: (read) => tickCache.readThrough(() => readSettings(read)),
    exists: (read) => readThrough(existing, "", () => read() || undefined, always) === true,
    object: (key, read) => readThrough(objects, key, read, always),
    // Lists of parts may be long; their own cache bounds their memory (part-lists.ts).
    objectWithBody: (key, read) => readThrough(bodies, key, read, ({ body }) => body.storage !== "parts"),
    close() {
      unsubscribe();
      clear();
    },
  };
}

const always = () => true;

/** Cached values expire after this time: a longer turn may have waited for another process. */
const tickMilliseconds = 1;

/** Caches a value for one turn, in which this process cannot learn of a later commit. */
function createTickCache<T>(): { readThrough(read: () => T | undefined): T | undefined; clear(): void } {
  let found: T | undefined;
  let since = 0;
  const clear = () => {
    found = undefined;
  };
  return {
    readThrough(read) {
      if (found !== undefined && performance.now() - since < tickMilliseconds) return found;
      if (found === undefined) process.nextTick(clear);
      since = performance.now();
      found = read();
      return found;
    },
    clear,
  };
}
