// Records in SQLite, one database a bucket: reads on the serving thread, commits through the writer thread.
import type { ObjectWithBody, Records } from "../engine/records.ts";
import { StoreError } from "../model/errors.ts";
import type { Buckets, OpenBucket } from "./buckets.ts";
import { forgetting, namedBlobs, type WireChange, wireChange } from "./changes.ts";
import { createLocalDocuments } from "./documents.ts";
import { placeOf } from "./layout.ts";
import type { Queries } from "./queries.ts";
import type { RegisteredBucket } from "./registry.ts";
import type { Writer } from "./writer.ts";

export function createLocalRecords(buckets: Buckets, writer: Writer): Records {
  const never = () => false;

  async function commit(name: string, change: WireChange, named: readonly string[]) {
    const { bucket } = buckets.open(name);
    // Bytes staged for an earlier life of the name went with it.
    if (named.some((blob) => placeOf(blob).bucketId !== bucket.id)) throw new StoreError("NoSuchBucket");
    try {
      return await writer.commit(bucket.id, change);
    } catch (error) {
      if (error instanceof StoreError && error.reason === "NoSuchBucket") buckets.drop(name);
      throw error;
    }
  }

  return {
    createBucket: (bucket) => writer.createBucket(bucket),
    async bucket(name) {
      try {
        const found = (queries: Queries, { bucket }: OpenBucket) => {
          const settings = queries.settings();
          return settings && { ...withoutId(bucket), settings };
        };
        return buckets.read(name, found, isFound);
      } catch (error) {
        if (error instanceof StoreError && error.reason === "NoSuchBucket") return undefined;
        throw error;
      }
    },
    async buckets() {
      return buckets.all().map(withoutId);
    },
    async deleteBucket(name) {
      const outcome = await writer.deleteBucket(name);
      if (outcome === "deleted") buckets.drop(name);
      return outcome;
    },

    async totals(name) {
      return buckets.read(name, (queries) => queries.totals(), never);
    },
    async object(name, key) {
      return buckets.read(name, (queries) => queries.object(key), isFound);
    },
    async objectWithBody(name, key) {
      return buckets.read(name, (queries) => queries.objectWithBody(key), isFound);
    },
    async objects(name, scan) {
      return buckets.read(
        name,
        (queries) => queries.objects(scan),
        (page) => page.entries.length > 0,
      );
    },

    async *inspect(name) {
      let after: Uint8Array | undefined;
      for (;;) {
        const keys = buckets.read(name, (queries) => queries.keys(after), never);
        for (const bytes of keys) {
          const key = Buffer.from(bytes).toString();
          const found = inspected(() =>
            buckets.read(name, (queries) => queries.objectWithBody(key), isFound),
          );
          // Gone since the keys were read.
          if (found !== undefined) yield { key, found };
        }
        after = keys.at(-1);
        if (after === undefined) return;
      }
    },
    async knowsBlob(name, blob) {
      return buckets.read(name, (queries) => queries.knowsBlob(blob), never);
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

    commit: (name, change) => commit(name, wireChange(change), namedBlobs(change)),
    async buried(name, after, limit) {
      return buckets.read(name, (queries) => queries.buried(after, limit), never);
    },
    async forget(name, entries) {
      const blobs = entries.flatMap((body) => body.blobs);
      await commit(
        name,
        forgetting(
          entries.map(({ entry }) => entry),
          blobs,
        ),
        [],
      );
    },

    documents: createLocalDocuments(buckets.registry, writer),
    async close() {
      // Readers first: the last to close a database folds its log into it.
      buckets.close();
      await writer.close();
    },
  };
}

function inspected(read: () => ObjectWithBody | undefined): ObjectWithBody | StoreError | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof StoreError) return error;
    return new StoreError("InternalError", {
      detail: "The stored data is damaged: a record cannot be read.",
      cause: error,
    });
  }
}

function isFound<T>(result: T | undefined): boolean {
  return result !== undefined;
}

function withoutId({ id: _, ...bucket }: RegisteredBucket) {
  return bucket;
}
