// What was read from a bucket of late, good for as long as nobody commits to it: a look at the head of the log tells,
// for a fifth of what the smallest query costs. Only what is asked for again is kept, and where commits come
// between most reads nothing is.
import type { ObjectWithBody } from "../../engine/records.ts";
import type { Bucket } from "../../model/bucket.ts";
import type { ObjectRecord } from "../../model/object.ts";
import type { WalChangeCounter } from "./wal-change-counter.ts";

/** Answers what was found before, or reads; what is not there is always read. */
export interface ReadCache {
  bucket(read: () => Bucket | undefined): Bucket | undefined;
  object(key: string, read: () => ObjectRecord | undefined): ObjectRecord | undefined;
  objectWithBody(key: string, read: () => ObjectWithBody | undefined): ObjectWithBody | undefined;
  /** Lets go of everything. */
  close(): void;
}

/** How much is kept of all buckets together: small bodies are kept too, so these are some megabytes at most. */
export interface CacheBudget {
  /** Before one more is kept; when there is no more room, all of them go. */
  addEntry(): void;
  /** Calls when all must go; gives what takes the listener back. */
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
  /** Between which two commits it was read. */
  readonly generation: number;
  readonly value: T;
}

/** Stands for what was asked for once. */
const admissionMarker: CacheEntry<never> = { generation: -1, value: undefined as never };

/** With fewer answers between two commits, looking costs more than it saves: then this many reads go without. */
const minHits = 16;
const bypassReads = 256;

export function createReadCache(changeCounter: WalChangeCounter, cacheBudget: CacheBudget): ReadCache {
  let generation = 0;
  let hits = 0;
  let bypassLeft = 0;

  function currentGeneration(): number {
    if (!changeCounter.hasChanged()) return generation;
    if (hits < minHits) bypassLeft = bypassReads;
    hits = 0;
    return ++generation;
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
    // Looked before it is read: what is committed in between is seen by the next look.
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

  const buckets = new Map<string, CacheEntry<Bucket>>();
  const objects = new Map<string, CacheEntry<ObjectRecord>>();
  const bodies = new Map<string, CacheEntry<ObjectWithBody>>();
  const clear = () => {
    for (const entries of [buckets, objects, bodies]) entries.clear();
    tickCache.clear();
  };
  const tickCache = createTickCache<Bucket>();
  const unsubscribe = cacheBudget.subscribe(clear);
  return {
    bucket: (read) => tickCache.readThrough(() => readThrough(buckets, "", read, always)),
    object: (key, read) => readThrough(objects, key, read, always),
    objectWithBody: (key, read) => readThrough(bodies, key, read, isSmall),
    close() {
      unsubscribe();
      clear();
    },
  };
}

const always = () => true;

/** Lists of parts may be long. */
function isSmall({ body }: ObjectWithBody): boolean {
  return body.storage !== "parts";
}

/** Shorter than anything that a script could wait for without giving the turn away. */
const tickMilliseconds = 1;

/**
 * What one turn of the event loop has read is good for the rest of it: nobody can have told this process of a later
 * commit. Many writes that go on together after one commit so look at their bucket once.
 */
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
