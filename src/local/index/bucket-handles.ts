// Open databases of buckets for reading, on the serving thread. Another process can delete a bucket
// at any time, so a read that finds nothing checks whether its bucket still exists.
import { existsSync, rmSync } from "node:fs";
import { createPartListCache } from "../../engine/codec/part-list-cache.ts";
import type { PartsBody } from "../../engine/codec/parts-body.ts";
import type { BucketRecord } from "../../model/bucket.ts";
import { StoreError } from "../../model/errors.ts";
import { bucketPaths, type Layout } from "../disk/layout.ts";
import { createLru } from "../disk/lru.ts";
import { damagedError } from "../rows/checksum.ts";
import { createRegistryReader, type RegisteredBucket, type RegistryReader } from "./bucket-registry.ts";
import { openBucketDatabase } from "./migrations.ts";
import { createQueries, type Queries } from "./queries/object-queries.ts";
import { createCacheBudget, createReadCache, type ReadCache } from "./read-cache.ts";
import {
  type Database,
  openDatabase,
  sqliteCannotOpen,
  sqliteCode,
  sqliteFull,
  sqliteIoError,
  toDamageError,
  toReadError,
} from "./sqlite.ts";
import { createWalChangeCounters, type WalChangeCounter } from "./wal-change-counter.ts";

export interface OpenBucket {
  readonly bucket: RegisteredBucket;
  readonly database: Database;
  readonly queries: Queries;
  /** Caches the results of `queries`. */
  readonly cache: ReadCache;
}

export interface Buckets {
  readonly registry: Database;
  /** Reports whether the registry may have changed. */
  readonly changeCounter: WalChangeCounter;
  /** Throws NoSuchBucket. Later, another process may delete the bucket at any time. */
  open(name: string): OpenBucket;
  /**
   * Reads through the bucket's handle, and again if the bucket was deleted meanwhile. A result that
   * proves existence, such as an object, needs no check: only an empty bucket can be deleted.
   */
  read<T>(
    name: string,
    read: (queries: Queries, open: OpenBucket) => T,
    provesExistence: (result: T) => boolean,
  ): T;
  /** Closes the handle of a deleted bucket. */
  drop(name: string): void;
  /** Returns the buckets sorted by name, from memory if the registry has not changed. */
  list(): readonly BucketRecord[];
  /** Returns the buckets sorted by name. A damaged entry throws; with "sound" it is skipped. */
  all(which?: "sound"): RegisteredBucket[];
  close(): void;
  /** Call this last, after the writer thread has closed its databases. */
  closeChangeCounters(): void;
}

export function createBuckets(layout: Layout): Buckets {
  const registry = openDatabase(layout.registry, { role: "reader" });
  const changeCounters = createWalChangeCounters(layout.root);
  const changeCounter = changeCounters.open(layout.registry);
  // Every caller counts the changes since its own last read.
  const listChanges = changeCounters.open(layout.registry);
  let listed: readonly BucketRecord[] | undefined;
  // Statements are prepared for each use, which is rare: a referenced statement would keep the
  // files of a closed database open.
  function readRegistry<T>(ask: (reader: RegistryReader) => T): T {
    try {
      return ask(createRegistryReader(registry));
    } catch (error) {
      throw toDamageError(error, "the registry");
    }
  }
  const cacheBudget = createCacheBudget();
  const partLists = createPartListCache<PartsBody>();
  const handles = createLru(128, openByName, ({ database, cache }) => {
    cache.close();
    database.close();
  });

  function openByName(name: string): OpenBucket {
    for (;;) {
      const bucket = readRegistry((reader) => reader.find(name));
      if (bucket === undefined) throw new StoreError("NoSuchBucket");
      const opened = tryOpen(bucket);
      // If undefined, the bucket was deleted between the two reads: read the registry again.
      if (opened !== undefined) return opened;
      const now = readRegistry((reader) => reader.find(name));
      if (now?.id !== bucket.id) continue;
      if (now.isDeleting) throw new StoreError("NoSuchBucket");
      throw damagedError(`the folder of bucket "${name}", which is gone or marked as deleted,`);
    }
  }

  /** Reading needs a small index of the log; on a full disk, only the reserve has space for it. */
  function openForReading(path: string): Database {
    try {
      return openBucketDatabase(path, "reader");
    } catch (error) {
      const code = sqliteCode(error);
      const isFull = code === sqliteFull || code === sqliteIoError;
      if (!isFull || !existsSync(layout.reserve)) throw error;
      rmSync(layout.reserve, { force: true });
      return openBucketDatabase(path, "reader");
    }
  }

  function tryOpen(bucket: RegisteredBucket): OpenBucket | undefined {
    const path = bucketPaths(layout, bucket.id).database;
    try {
      const database = openForReading(path);
      const queries = createQueries(database, { cache: partLists, bucketId: bucket.id });
      if (!queries.isDeleted()) {
        return { bucket, database, queries, cache: createReadCache(changeCounters.open(path), cacheBudget) };
      }
      database.close();
      return undefined;
    } catch (error) {
      if (sqliteCode(error) === sqliteCannotOpen && !existsSync(path)) return undefined;
      throw toReadError(error, `the records of bucket "${bucket.name}"`);
    }
  }

  return {
    registry,
    changeCounter,
    open: (name) => handles.get(name),
    read(name, read, provesExistence) {
      for (;;) {
        const handle = handles.get(name);
        try {
          const { queries, cache } = handle;
          const result = read(queries, handle);
          if (provesExistence(result) || cache.exists(() => !queries.isDeleted())) return result;
        } catch (error) {
          throw toDamageError(error, `the records of bucket "${name}"`);
        }
        handles.drop(name);
      }
    },
    drop: (name) => handles.drop(name),
    list() {
      // Any key may list buckets, and reading 100,000 takes a second.
      if (listChanges.hasChanged()) listed = undefined;
      listed ??= readRegistry((reader) => reader.all()).map(toBucketRecord);
      return listed;
    },
    all: (which) => readRegistry((reader) => reader.all(which)),
    close() {
      handles.clear();
      registry.close();
    },
    closeChangeCounters: () => changeCounters.close(),
  };
}

export function toBucketRecord({ id: _, isDeleting: __, ...bucket }: RegisteredBucket): BucketRecord {
  return bucket;
}
