// Creates the engine from its parts, and adds the failed action to every error.
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { createMetrics, type Metrics } from "../metrics/metrics.ts";
import { type BucketRecord, checkNewBucketName, defaultAccount } from "../model/bucket.ts";
import { type Action, attachAction, StoreError } from "../model/errors.ts";
import { isNamespaceBucket } from "../model/key-value.ts";
import { limits } from "../model/limits.ts";
import { checkStorageClass } from "../model/object.ts";
import type { Blobs } from "./blobs.ts";
import { createHashThreads } from "./bytes/hash-pool.ts";
import { createBufferPool } from "./bytes/pooled.ts";
import { createSpareBuffers } from "./bytes/ring.ts";
import type { Context } from "./context.ts";
import { createKeySeeds } from "./encryption/key-seeds.ts";
import type { BucketOptions, Engine } from "./engine.ts";
import { boundEvents, type EventBoundOptions } from "./event-bound.ts";
import { createEvents } from "./event-outbox.ts";
import { createKeyValues } from "./key-value/store.ts";
import { createEncryptionOperations } from "./maintenance/encryption.ts";
import { createHousekeeping } from "./maintenance/scheduler.ts";
import { scrubProgress } from "./maintenance/scrub.ts";
import { verify } from "./maintenance/verify.ts";
import type { EncryptionOptions } from "./master-keys.ts";
import { createObjects } from "./objects.ts";
import { createAccountQuotas } from "./quotas/account-quotas.ts";
import { createQuotaEnforcement } from "./quotas/enforcement.ts";
import type { Records } from "./records.ts";
import { createSearches } from "./search.ts";
import { createOpenUploads } from "./uploads/open-uploads.ts";
import { abortAll, createUploads } from "./uploads/uploads.ts";
import { changeSettings } from "./versions/bucket-settings.ts";
import { createVersions } from "./versions/operations.ts";

export interface EngineOptions {
  readonly records: Records;
  readonly blobs: Blobs;
  readonly now?: (() => number) | undefined;
  readonly randomBytes?: ((size: number) => Buffer) | undefined;
  /** Receives the metrics of background maintenance. */
  readonly metrics?: Metrics | undefined;
  /** Maximum number of open multipart uploads per bucket. Default: 100,000. */
  readonly openUploads?: number | undefined;
  /** Called when lifecycle rules have deleted objects of a bucket. */
  readonly onExpired?: Context["onExpired"];
  /** Without them, objects can be encrypted only with customers' keys. */
  readonly encryption?: EncryptionOptions | undefined;
  /** @internal Smaller values let tests reach the limits with few bytes. */
  readonly inlineBytes?: number | undefined;
  /** @internal */
  readonly eventBound?: EventBoundOptions | undefined;
  /** @internal */
  readonly blockBytes?: number | undefined;
  /** @internal */
  readonly s3PartBytes?: number | undefined;
}

export function createEngine(options: EngineOptions): Engine {
  const { now = Date.now, metrics = createMetrics() } = options;
  const records = boundEvents(options.records, options.eventBound);
  const accounts = createAccountQuotas(records, now);
  const newRandomBytes = options.randomBytes ?? createRandomBytes();
  const context: Context = {
    records,
    blobs: options.blobs,
    now,
    randomBytes: newRandomBytes,
    inlineBytes: options.inlineBytes ?? limits.inlineBytes,
    blockBytes: options.blockBytes ?? limits.blockBytes,
    s3PartBytes: options.s3PartBytes ?? limits.s3PartBytes,
    hashThreads: createHashThreads(),
    onExpired: options.onExpired,
    encryption: options.encryption,
    keySeeds: createKeySeeds({ randomBytes: newRandomBytes, now }),
    ingests: {
      ...{ activeStreams: 0, wholeStreamBytes: 0 },
      ...{ bufferPool: createBufferPool(), spareBuffers: createSpareBuffers() },
    },
    quotas: createQuotaEnforcement({ records, accounts, metrics, now }),
  };
  const objects = createObjects(context);
  const versions = createVersions(context);
  const uploads = createUploads(
    context,
    createOpenUploads(context, options.openUploads ?? limits.openUploads),
  );
  const housekeeping = createHousekeeping(context, metrics);
  const put = housekeeping.sweepAfter(objects.put);
  const remove = housekeeping.sweepAfter(objects.delete);
  const events = createEvents(context);
  const bucketDelete = (name: string) => deleteBucket(context, name, housekeeping.sweepBucket);
  return {
    createBucket: withAction("createBucket", (name, options) => createBucket(context, name, options)),
    bucket: (name) => (isNamespaceBucket(name) ? noBucket : context.records.bucket(name)),
    listBuckets: withAction("listBuckets", async () =>
      (await context.records.buckets()).filter(({ name }) => !isNamespaceBucket(name)),
    ),
    deleteBucket: onBucket("deleteBucket", bucketDelete),

    changeSettings: onBucket(undefined, (bucket, changes, seen) =>
      changeSettings(context, bucket, changes, seen),
    ),

    head: onBucket("head", objects.head),
    describe: onBucket("head", objects.describe),
    get: onBucket("get", objects.get),
    put: onBucket("put", put),
    delete: onBucket("delete", remove),
    list: onBucket("list", objects.list),
    search: onBucket("list", createSearches(context).search),

    listVersions: onBucket("list", versions.listVersions),
    deleteVersions: onBucket("delete", housekeeping.sweepAfter(versions.deleteVersions)),
    setTags: onBucket("setTags", versions.setTags),
    setRetention: onBucket("setRetention", versions.setRetention),
    setLegalHold: onBucket("setLegalHold", versions.setLegalHold),
    restorePage: onBucket("put", versions.restorePage),
    restoreVersion: onBucket("put", versions.restoreVersion),

    createUpload: onBucket("createMultipartUpload", uploads.createUpload),
    uploadPart: onBucket("uploadPart", housekeeping.sweepAfter(uploads.uploadPart)),
    completeUpload: onBucket("completeMultipartUpload", housekeeping.sweepAfter(uploads.completeUpload)),
    abortUpload: onBucket("abortMultipartUpload", housekeeping.sweepAfter(uploads.abortUpload)),

    completedUpload: onBucket("completeMultipartUpload", uploads.completedUpload),
    listUploads: onBucket("list", uploads.listUploads),
    listParts: onBucket("list", uploads.listParts),

    waitingEvents: onBucket(undefined, events.waitingEvents),
    ackEvents: onBucket(undefined, events.ackEvents),
    countEvents: onBucket(undefined, events.countEvents),
    eventUsage: onBucket(undefined, events.eventUsage),
    dropOldestEvents: onBucket(undefined, events.dropOldestEvents),

    kv: createKeyValues(context, {
      get: withAction("get", objects.get),
      put: withAction("put", put),
      delete: withAction("delete", remove),
      deleteBucket: bucketDelete,
    }),

    encryption: createEncryptionOperations(context),

    totals: onBucket(undefined, (bucket) => records.totals(bucket)),
    quotas: accounts,
    verify: (verifyOptions) => verify(context, verifyOptions),
    startScrub: housekeeping.startScrub,
    scrub: housekeeping.scrub,
    scrubProgress: () => scrubProgress(context),
    sweep: housekeeping.sweep,
    async close() {
      await housekeeping.stop();
      await context.records.close();
      await context.blobs.close();
      await context.hashThreads.close();
    },
  };
}

const noBucket = Promise.resolve(undefined);

/** Gets random bytes in batches: a small system call costs as much as a large one. */
function createRandomBytes(): (size: number) => Buffer {
  const poolBytes = 4096;
  let pool: Buffer = Buffer.alloc(0);
  return (size) => {
    if (size > pool.length) pool = randomBytes(Math.max(poolBytes, size));
    const taken = pool.subarray(0, size);
    pool = pool.subarray(size);
    return taken;
  };
}

function withAction<A extends unknown[], R>(action: Action, operation: (...args: A) => Promise<R>) {
  return async (...args: A): Promise<R> => {
    try {
      return await operation(...args);
    } catch (error) {
      throw attachAction(action, error);
    }
  };
}

/** Wraps a bucket operation. It cannot access namespaces, although they are stored as buckets. */
function onBucket<A extends [bucket: string, ...rest: never[]], R>(
  action: Action | undefined,
  operation: (...args: A) => Promise<R>,
) {
  return async (...args: A): Promise<R> => {
    try {
      if (isNamespaceBucket(args[0])) throw new StoreError("NoSuchBucket");
      return await operation(...args);
    } catch (error) {
      throw action === undefined ? error : attachAction(action, error);
    }
  };
}

async function createBucket(
  context: Context,
  name: string,
  { storageClass = "Standard", account = defaultAccount }: BucketOptions = {},
): Promise<BucketRecord> {
  checkNewBucketName(name);
  const bucket = { name, created: context.now(), storageClass: checkStorageClass(storageClass), account };
  if (!(await context.records.createBucket(bucket))) throw new StoreError("BucketConflict");
  return bucket;
}

async function deleteBucket(context: Context, name: string, sweepBucket: (name: string) => Promise<void>) {
  const { records } = context;
  const page = await records.versions(name, { prefix: "", delimiter: "", limit: 1 });
  if (page.entries.length > 0) throw new StoreError("BucketNotEmpty");
  await abortAll(context, name);
  await sweepBucket(name);
  const outcome = await records.deleteBucket(name);
  if (outcome === "missing") throw new StoreError("NoSuchBucket");
  if (outcome === "not empty") throw new StoreError("BucketNotEmpty");
}
