// Puts the engine together from its parts, and tells every error as part of the action it stopped.
import { randomBytes } from "node:crypto";
import { createMetrics, type Metrics } from "../metrics/metrics.ts";
import {
  type BucketRecord,
  type BucketSettings,
  checkBucketName,
  defaultAccount,
  settingNames,
} from "../model/bucket.ts";
import { type Action, during, StoreError } from "../model/errors.ts";
import { limits } from "../model/limits.ts";
import { checkStorageClass } from "../model/object.ts";
import type { Blobs } from "./blobs.ts";
import type { Context } from "./context.ts";
import type { BucketOptions, Engine } from "./engine.ts";
import { createEvents } from "./events.ts";
import { createHashThreads } from "./hash-threads.ts";
import { createHousekeeping } from "./housekeeping.ts";
import { createObjects } from "./objects.ts";
import { createOpenUploads } from "./open-uploads.ts";
import type { Records } from "./records.ts";
import { scrubProgress } from "./scrub.ts";
import { createTurns } from "./turns.ts";
import { abortAll, createUploads } from "./uploads.ts";
import { verify } from "./verify.ts";

export interface EngineOptions {
  readonly records: Records;
  readonly blobs: Blobs;
  readonly now?: (() => number) | undefined;
  readonly randomBytes?: ((size: number) => Buffer) | undefined;
  /** Where housekeeping counts what it does. */
  readonly metrics?: Metrics | undefined;
  /** How many multipart uploads a bucket may have open; default: 100,000. */
  readonly openUploads?: number | undefined;
  /** @internal Smaller than the limits say, so that tests come to their edges with few bytes. */
  readonly inlineBytes?: number | undefined;
  /** @internal */
  readonly blockBytes?: number | undefined;
  /** @internal */
  readonly s3PartBytes?: number | undefined;
}

export function createEngine(options: EngineOptions): Engine {
  const context: Context = {
    records: options.records,
    blobs: options.blobs,
    now: options.now ?? Date.now,
    randomBytes: options.randomBytes ?? createRandomBytes(),
    inlineBytes: options.inlineBytes ?? limits.inlineBytes,
    blockBytes: options.blockBytes ?? limits.blockBytes,
    s3PartBytes: options.s3PartBytes ?? limits.s3PartBytes,
    hashThreads: createHashThreads(),
    intakes: { active: 0, turns: createTurns(), wholeBytes: 0 },
  };
  const objects = createObjects(context);
  const uploads = createUploads(
    context,
    createOpenUploads(context, options.openUploads ?? limits.openUploads),
  );
  const housekeeping = createHousekeeping(context, options.metrics ?? createMetrics());
  return {
    createBucket: telling("createBucket", (name, options) => createBucket(context, name, options)),
    bucket: (name) => context.records.bucket(name),
    listBuckets: telling("listBuckets", () => context.records.buckets()),
    deleteBucket: telling("deleteBucket", (name) => deleteBucket(context, name, housekeeping.sweepBucket)),

    changeSettings: (bucket, changes, seen) => changeSettings(context, bucket, changes, seen),

    head: telling("head", objects.head),
    describe: telling("head", objects.describe),
    get: telling("get", objects.get),
    put: telling("put", housekeeping.after(objects.put)),
    delete: telling("delete", housekeeping.after(objects.delete)),
    list: telling("list", objects.list),

    createUpload: telling("createMultipartUpload", uploads.createUpload),
    uploadPart: telling("uploadPart", housekeeping.after(uploads.uploadPart)),
    completeUpload: telling("completeMultipartUpload", housekeeping.after(uploads.completeUpload)),
    abortUpload: telling("abortMultipartUpload", housekeeping.after(uploads.abortUpload)),

    completedUpload: telling("completeMultipartUpload", uploads.completedUpload),
    listUploads: telling("list", uploads.listUploads),
    listParts: telling("list", uploads.listParts),

    ...createEvents(context),

    totals: (bucket) => context.records.totals(bucket),
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

/** Asks the system for many at a time: for a few it costs as much. */
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

function telling<A extends unknown[], R>(action: Action, operation: (...args: A) => Promise<R>) {
  return async (...args: A): Promise<R> => {
    try {
      return await operation(...args);
    } catch (error) {
      throw during(action, error);
    }
  };
}

async function createBucket(
  context: Context,
  name: string,
  { storageClass = "Standard", account = defaultAccount }: BucketOptions = {},
): Promise<BucketRecord> {
  checkBucketName(name);
  const bucket = { name, created: context.now(), storageClass: checkStorageClass(storageClass), account };
  if (!(await context.records.createBucket(bucket))) throw new StoreError("BucketConflict");
  return bucket;
}

async function changeSettings(
  context: Context,
  bucket: string,
  changes: BucketSettings,
  seen: BucketSettings | undefined,
): Promise<"committed" | "conflict"> {
  const names = settingNames.filter((name) => name in changes);
  const mutations = names.map((name) => ({ kind: "put setting", name, value: changes[name] }) as const);
  const checks = names.map((name) => ({ kind: "setting", name, value: seen?.[name] }) as const);
  return context.records.commit(bucket, { checks: seen === undefined ? [] : checks, mutations });
}

async function deleteBucket(context: Context, name: string, sweepBucket: (name: string) => Promise<void>) {
  const { records } = context;
  const page = await records.objects(name, { prefix: "", delimiter: "", limit: 1, metadataBytes: 1 });
  if (page.entries.length > 0) throw new StoreError("BucketNotEmpty");
  await abortAll(context, name);
  await sweepBucket(name);
  const outcome = await records.deleteBucket(name);
  if (outcome === "missing") throw new StoreError("NoSuchBucket");
  if (outcome === "not empty") throw new StoreError("BucketNotEmpty");
}
