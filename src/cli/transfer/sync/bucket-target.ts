// Sync into a bucket: uploads files as objects. An overwritten object keeps its metadata and tags.
import type { WriteOptions } from "../../../engine/engine.ts";
import { guessContentType } from "../../../http/content-types.ts";
import type { Key } from "../../../model/key.ts";
import { limits } from "../../../model/limits.ts";
import type { ObjectRecord } from "../../../model/object.ts";
import { CommandError } from "../../framework/command-error.ts";
import { upload } from "../upload.ts";
import { hasSameBytes, openLocalFile } from "./local-file.ts";
import type { SyncOptions, SyncTarget } from "./sync.ts";

export function createBucketTarget(options: SyncOptions): SyncTarget {
  const { engine, bucket, isDryRun, sizeOnly, verifies, signal, onBytes } = options;
  let pendingDeletes: Key[] = [];
  let batchSize: Promise<number> | undefined;

  /** One object that a lock rule keeps would refuse a whole batch: then delete one by one. */
  async function findBatchSize(): Promise<number> {
    const { lockRules, versioning } =
      (await engine.bucket(bucket, ["lockRules", "versioning"]))?.settings ?? {};
    return lockRules === undefined || versioning === "on" ? limits.deleteKeys : 1;
  }

  /** The listing of a service has no metadata: read what the new object keeps. */
  async function completeRecord(key: Key, record: ObjectRecord | undefined) {
    if (record === undefined || engine.service === undefined) return record;
    return engine.head(bucket, key, { withTags: true });
  }

  async function deleteAll(): Promise<void> {
    const keys = pendingDeletes;
    pendingDeletes = [];
    if (keys.length > 0) await engine.delete(bucket, keys);
  }

  return {
    async copy({ key, file: { path } = { path: "" }, record }) {
      const file = await openLocalFile(path);
      try {
        if (record !== undefined && (await hasSameBytes({ engine, bucket, record, file, sizeOnly })))
          return undefined;
        if (!isDryRun) {
          const kept = await completeRecord(key, record);
          const given = { chunks: file.chunks(), size: file.size, options: writeOptions(key, kept) };
          const stored = await upload({ engine, to: { bucket, key }, ...given, signal, onBytes });
          const isRight =
            !verifies || (await hasSameBytes({ engine, bucket, record: stored, file, sizeOnly: false }));
          if (!isRight) throw new CommandError("The stored object differs from the file; import it again.");
        }
        return file.size;
      } finally {
        await file.close();
      }
    },

    async remove(key) {
      if (isDryRun) return;
      pendingDeletes.push(key);
      batchSize ??= findBatchSize();
      if (pendingDeletes.length >= (await batchSize)) await deleteAll();
    },

    prune: async () => {},
    finish: deleteAll,
  };
}

function writeOptions(key: Key, record: ObjectRecord | undefined): WriteOptions {
  if (record !== undefined) {
    const { httpMetadata, customMetadata, storageClass, tags, passthrough } = record;
    return { httpMetadata, customMetadata, storageClass, tags, passthrough };
  }
  const contentType = guessContentType(key);
  return { httpMetadata: contentType === undefined ? {} : { contentType } };
}
