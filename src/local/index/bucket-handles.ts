// Open buckets for reading, on the serving thread. A handle may outlive its bucket, since another process
// may delete it: whoever finds nothing through a handle asks whether it is still the bucket's.
import { existsSync } from "node:fs";
import { StoreError } from "../../model/errors.ts";
import { bucketPaths, type Layout } from "../disk/layout.ts";
import { createLeastRecent } from "../disk/lru.ts";
import { createRegistryReader, type RegisteredBucket, type RegistryReader } from "./bucket-registry.ts";
import { damaged } from "./checksum.ts";
import { openBucketDatabase } from "./migrations.ts";
import { createQueries, type Queries } from "./object-queries.ts";
import { createRecent, createRoom, type Recent } from "./read-cache.ts";
import {
  type Database,
  damageOf,
  openDatabase,
  readingError,
  sqliteCannotOpen,
  sqliteCode,
} from "./sqlite.ts";
import { createGlances, type Glance } from "./wal-change-counter.ts";

export interface OpenBucket {
  readonly bucket: RegisteredBucket;
  readonly database: Database;
  readonly queries: Queries;
  /** In front of the queries. */
  readonly recent: Recent;
}

export interface Buckets {
  readonly registry: Database;
  /** Whether the registry may have changed. */
  readonly glance: Glance;
  /** Rejects with NoSuchBucket. The handle may be of a bucket that was just deleted. */
  open(name: string): OpenBucket;
  /**
   * Reads through the handle. An object that is found proves the bucket's life, since only an empty bucket
   * can be deleted; a read that found nothing is repeated when the bucket has ended meanwhile.
   */
  read<T>(name: string, read: (queries: Queries, open: OpenBucket) => T, isProof: (result: T) => boolean): T;
  /** Lets go of a handle whose bucket is gone. */
  drop(name: string): void;
  /** By name. A damaged entry throws, or is left out when only the sound ones are asked for. */
  all(which?: "sound"): RegisteredBucket[];
  close(): void;
  /** Behind the end of whoever commits, too. */
  letGo(): void;
}

export function createBuckets(layout: Layout): Buckets {
  const registry = openDatabase(layout.registry, { role: "reader" });
  const glances = createGlances(layout.root);
  const glance = glances.of(layout.registry);
  // Prepared when asked, which is rarely: the driver keeps a closed database's files as long as any of its
  // statements is held.
  function known<T>(ask: (reader: RegistryReader) => T): T {
    try {
      return ask(createRegistryReader(registry));
    } catch (error) {
      throw damageOf(error, "the registry");
    }
  }
  const room = createRoom();
  const handles = createLeastRecent(128, openByName, ({ database, recent }) => {
    recent.close();
    database.close();
  });

  function openByName(name: string): OpenBucket {
    for (;;) {
      const bucket = known((reader) => reader.find(name));
      if (bucket === undefined) throw new StoreError("NoSuchBucket");
      const opened = tryOpen(bucket);
      // Deleted between the two looks: the registry says so by now, or names the bucket's next life.
      if (opened !== undefined) return opened;
      const now = known((reader) => reader.find(name));
      if (now?.id !== bucket.id) continue;
      if (now.isEnding) throw new StoreError("NoSuchBucket");
      throw damaged(`the folder of bucket "${name}", which is gone or marked as deleted,`);
    }
  }

  function tryOpen(bucket: RegisteredBucket): OpenBucket | undefined {
    const path = bucketPaths(layout, bucket.id).database;
    try {
      const database = openBucketDatabase(path, "reader");
      const queries = createQueries(database);
      if (!queries.isDeleted()) {
        return { bucket, database, queries, recent: createRecent(glances.of(path), room) };
      }
      database.close();
      return undefined;
    } catch (error) {
      if (sqliteCode(error) === sqliteCannotOpen && !existsSync(path)) return undefined;
      throw readingError(error, `the records of bucket "${bucket.name}"`);
    }
  }

  return {
    registry,
    glance,
    open: (name) => handles.get(name),
    read(name, read, isProof) {
      for (;;) {
        const handle = handles.get(name);
        try {
          const result = read(handle.queries, handle);
          if (isProof(result) || !handle.queries.isDeleted()) return result;
        } catch (error) {
          throw damageOf(error, `the records of bucket "${name}"`);
        }
        handles.drop(name);
      }
    },
    drop: (name) => handles.drop(name),
    all: (which) => known((reader) => reader.all(which)),
    close() {
      handles.clear();
      registry.close();
    },
    letGo: () => glances.close(),
  };
}
