// The Records port on SQLite, one database per bucket: reads on the serving thread, commits on the
// writer thread.
import { Buffer } from "node:buffer";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Finding, Records } from "../engine/records.ts";
import type { Bucket, BucketSettings } from "../model/bucket.ts";
import { StoreError } from "../model/errors.ts";
import { keyBytes } from "../model/key.ts";
import {
  ackEventsChange,
  ackGarbageChange,
  referencedBlobs,
  type WireChange,
  wireChange,
} from "./commit/change.ts";
import type { Writer } from "./commit/group-commit.ts";
import { type Layout, parseBlobId } from "./disk/layout.ts";
import { createLocalDocuments } from "./documents.ts";
import { type Buckets, type OpenBucket, toBucketRecord } from "./index/bucket-handles.ts";
import type { RegisteredBucket } from "./index/bucket-registry.ts";
import { createChangeMarks } from "./index/change-marks.ts";
import type { Queries } from "./index/queries/object-queries.ts";
import { toDamageError } from "./index/sqlite.ts";
import { batchEnd, checkBucket } from "./integrity/check-bucket.ts";
import { checkRegistry } from "./integrity/check-registry.ts";
import { damagedError } from "./rows/checksum.ts";

export function createLocalRecords(layout: Layout, buckets: Buckets, writer: Writer): Records {
  const never = () => false;
  const documents = createLocalDocuments(buckets.registry, buckets.changeCounter, writer);

  async function commit(name: string, change: WireChange, blobIds: readonly string[]) {
    const { bucket } = buckets.open(name);
    // Blobs staged for a deleted bucket with the same name were removed with that bucket.
    if (blobIds.some((blob) => parseBlobId(blob).bucketId !== bucket.id))
      throw new StoreError("NoSuchBucket");
    try {
      const outcome = await writer.commit(bucket.id, change);
      if (outcome === "conflict") throwIfTorn(name, change);
      return outcome;
    } catch (error) {
      if (error instanceof StoreError && error.reason === "NoSuchBucket") buckets.drop(name);
      throw error;
    }
  }

  /** Throws if a version column does not match its record: a retry would conflict forever. */
  function throwIfTorn(name: string, { checks }: WireChange): void {
    for (const check of checks) {
      if (check.kind === "object") buckets.read(name, (queries) => queries.checkVersion(check.key), never);
    }
  }

  /** Returns the key of a damaged row of the history, if it can be read. */
  function readKey(name: string, entry: number): string {
    try {
      return buckets.read(name, (queries) => queries.entryKey(entry), never);
    } catch {
      return "";
    }
  }

  /** Damage may also break the check itself: that is a finding too. */
  async function* checkBucketSafely(name: string, depth: "records" | "pages"): AsyncGenerator<Finding> {
    try {
      const steps = checkBucket(
        (read) => buckets.read(name, (queries, { database }) => read(queries, database), never),
        depth,
      );
      for (const step of steps) {
        if (step === batchEnd) await nextTurn();
        else yield step;
      }
    } catch (error) {
      if (error instanceof StoreError && error.reason === "NoSuchBucket") throw error;
      yield { what: toDamageError(error, `the records of bucket "${name}"`).detail };
    }
  }

  return {
    createBucket: (bucket) => writer.createBucket(bucket),
    async bucket(name) {
      try {
        const found = (queries: Queries, { bucket, cache }: OpenBucket) =>
          cache.bucket(() => {
            const settings = queries.settings();
            return settings && withSettings(bucket, settings);
          });
        return buckets.read(name, found, isFound);
      } catch (error) {
        if (error instanceof StoreError && error.reason === "NoSuchBucket") return undefined;
        throw error;
      }
    },
    async buckets(which) {
      return which === undefined ? buckets.list() : buckets.all(which).map(toBucketRecord);
    },
    async changeMarks() {
      return createChangeMarks(layout, buckets.all("sound"));
    },
    async deleteBucket(name) {
      const outcome = await writer.deleteBucket(name);
      if (outcome === "deleted") buckets.drop(name);
      return outcome;
    },

    async totals(name) {
      return buckets.read(name, (queries) => queries.totals(), never);
    },
    async usage(name) {
      const totals = buckets.read(name, (queries) => queries.totals(), never);
      const { objects, bytes, noncurrentVersions, noncurrentBytes } = totals;
      return { bytes: bytes + noncurrentBytes, objects: objects + noncurrentVersions };
    },
    async object(name, key) {
      const find = (queries: Queries, { cache }: OpenBucket) => cache.object(key, () => queries.object(key));
      return buckets.read(name, find, isFound);
    },
    async objectWithBody(name, key) {
      const find = (queries: Queries, { cache }: OpenBucket) =>
        cache.objectWithBody(key, () => queries.objectWithBody(key));
      return buckets.read(name, find, isFound);
    },
    async objects(name, scan) {
      return buckets.read(
        name,
        (queries) => queries.objects(scan),
        (page) => page.entries.length > 0,
      );
    },
    async findKeys(name, search) {
      return buckets.read(
        name,
        (queries) => queries.findKeys(search),
        ({ scanned }) => scanned > 0,
      );
    },

    async version(name, key, id) {
      return buckets.read(name, (queries) => queries.version(key, id), isFound);
    },
    async newestVersion(name, key) {
      return buckets.read(name, (queries) => queries.newestVersion(key), isFound);
    },
    async objectAt(name, key, time) {
      return buckets.read(name, (queries) => queries.objectAt(key, time), isFound);
    },
    async versions(name, scan) {
      return buckets.read(
        name,
        (queries) => queries.versions(scan),
        (page) => page.entries.length > 0,
      );
    },

    async *inspectHistory(name) {
      for (let after = 0; ; ) {
        const entries = buckets.read(name, (queries) => queries.historyEntries(after), never);
        for (const entry of entries) {
          const found = readOrError(() =>
            buckets.read(name, (queries) => queries.inspectEntry(entry), isFound),
          );
          // If undefined, the version was removed after its entry was read.
          if (found === undefined) continue;
          const key = "version" in found ? found.version.key : readKey(name, entry);
          yield { key, found };
        }
        const last = entries.at(-1);
        // Entries out of order could make this loop forever.
        if (last === undefined || last <= after) return;
        after = last;
        await nextTurn();
      }
    },
    async *inspect(name, start) {
      let after: Uint8Array | undefined = start === undefined ? undefined : keyBytes(start);
      for (;;) {
        const keys = buckets.read(name, (queries) => queries.keys(after), never);
        for (const bytes of keys) {
          if (!(bytes instanceof Uint8Array)) {
            yield { key: "", found: damagedError("a key of the index") };
            continue;
          }
          const found = readOrError(() => buckets.read(name, (queries) => queries.inspect(bytes), isFound));
          // If undefined, the object was deleted after its key was read.
          if (found !== undefined) yield { key: Buffer.from(bytes).toString(), found };
        }
        const last = keys.at(-1);
        if (!(last instanceof Uint8Array)) return;
        // Keys out of order could make this loop forever. checkIntegrity reports the keys not
        // reached here.
        if (after !== undefined && Buffer.compare(last, after) <= 0) return;
        after = last;
        await nextTurn();
      }
    },
    async *checkIntegrity(name, depth) {
      if (name === undefined) yield* checkRegistry(layout, buckets.registry);
      else yield* checkBucketSafely(name, depth);
    },
    async referencesBlob(name, blob) {
      return buckets.read(name, (queries) => queries.referencesBlob(blob), never);
    },

    async upload(name, key, id) {
      return buckets.read(name, (queries) => queries.upload(key, id), never);
    },
    async uploads(name, scan) {
      return buckets.read(name, (queries) => queries.uploads(scan), never);
    },
    async dueUploads(name, now, limit) {
      return buckets.read(name, (queries) => queries.dueUploads(now, limit), never);
    },
    async parts(name, uploadId) {
      return buckets.read(name, (queries) => queries.parts(uploadId), never);
    },

    commit: (name, change) => commit(name, wireChange(change), referencedBlobs(change)),
    async garbage(name, after, limit) {
      return buckets.read(name, (queries) => queries.garbage(after, limit), never);
    },
    async ackGarbage(name, entries) {
      const blobs = entries.flatMap((body) => body.blobs);
      await commit(
        name,
        ackGarbageChange(
          entries.map(({ entry }) => entry),
          blobs,
        ),
        [],
      );
    },

    async outboxEvents(name, rule, limits) {
      return buckets.read(name, (queries) => queries.outboxEvents(rule, limits), never);
    },
    async ackEvents(name, rule, entries) {
      await commit(name, ackEventsChange(rule, entries), []);
    },
    async eventCounts(name) {
      return buckets.read(name, (queries) => queries.eventCounts(), never);
    },

    async eventUsage(name) {
      return buckets.read(name, (queries) => queries.eventUsage(), never);
    },
    async dropOldestEvents(name, count) {
      const entries = buckets.read(name, (queries) => queries.oldestEntries(count), never);
      await commit(name, ackEventsChange(undefined, entries), []);
      return entries.length;
    },

    documents,
    async close() {
      documents.close();
      // Close readers first: closing the last connection runs a checkpoint.
      buckets.close();
      await writer.close();
      buckets.closeChangeCounters();
    },
  };
}

function readOrError<T>(read: () => T | undefined): T | StoreError | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof StoreError) return error;
    return new StoreError("Damaged", {
      detail: "The stored data is damaged: a record cannot be read.",
      cause: error,
    });
  }
}

function isFound<T>(result: T | undefined): boolean {
  return result !== undefined;
}

/** Copies field by field: this runs at every write, and spreading creates varying object shapes. */
function withSettings(bucket: RegisteredBucket, settings: BucketSettings): Bucket {
  const { name, created, storageClass, account } = bucket;
  return { name, created, storageClass, account, settings };
}
