// Walks all stored data and continues after damage: records, their bytes, and the references
// between them. `verify` walks at full speed, the scrub with a rate limit.
import { createHash, type Hash } from "node:crypto";
import { StoreError } from "../../model/errors.ts";
import type { Key } from "../../model/key.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { isDeleteMarker } from "../../model/version.ts";
import type { StoredBlob } from "../blobs.ts";
import { openBody } from "../bytes/body-reader.ts";
import type { Context } from "../context.ts";
import { openDataKey } from "../encryption/data-keys.ts";
import type { DataKey } from "../encryption/sealed-blocks.ts";
import type { InspectedObject, ObjectWithBody } from "../records.ts";
import { everyUpload } from "../uploads/listing.ts";
import type { Damage } from "./reports.ts";

/** The result of one step of the walk: a checked object or part, or damage. */
export interface Step {
  readonly isObject: boolean;
  /** Number of stored bytes that were checked. */
  readonly stored: number;
  readonly damage?: Damage;
  /** The position from which a later walk resumes after this step. */
  readonly at: WalkPosition;
}

export interface WalkPosition {
  readonly bucket: string;
  /** The last object that was checked. */
  readonly key?: Key;
}

export interface WalkOptions {
  readonly from?: WalkPosition | undefined;
  /** "pages" also checks the structure of each database, in one long read transaction. */
  readonly depth: "records" | "pages";
  /** Called with the number of bytes read, and awaited, to limit the rate. */
  readonly throttle?: ((bytes: number) => Promise<void>) | undefined;
}

type Throttle = WalkOptions["throttle"];

export async function* walkStore(
  given: Context,
  { from, depth, throttle }: WalkOptions,
): AsyncGenerator<Step> {
  const context = withoutCache(given);
  if (from === undefined) {
    for await (const { bucket, key, what } of context.records.checkIntegrity(undefined, depth)) {
      yield { isObject: false, stored: 0, damage: { bucket, key, what }, at: { bucket: "" } };
    }
  }
  for (const { name: bucket } of await context.records.buckets("sound")) {
    if (from !== undefined && bucket < from.bucket) continue;
    const after = bucket === from?.bucket ? from.key : undefined;
    try {
      yield* walkBucket(context, bucket, { after, depth, throttle });
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      // A bucket deleted during the walk is not damage. An unreadable bucket must not block the
      // others.
      if (error.reason === "NoSuchBucket") continue;
      yield toDamageStep({ bucket }, error.detail);
    }
  }
}

/** A cached copy would hide damage of the stored bytes. */
function withoutCache(context: Context): Context {
  const { openUncached } = context.blobs;
  return openUncached === undefined
    ? context
    : { ...context, blobs: { ...context.blobs, open: openUncached } };
}

async function* walkBucket(
  context: Context,
  bucket: string,
  { after, depth, throttle }: Omit<WalkOptions, "from"> & { readonly after: Key | undefined },
): AsyncGenerator<Step> {
  let at: WalkPosition = after === undefined ? { bucket } : { bucket, key: after };
  try {
    for await (const inspected of context.records.inspect(bucket, after)) {
      const { key } = inspected;
      const { stored, what } = await verifyObject(context, bucket, inspected, throttle);
      at = { bucket, key };
      const damage = what === undefined ? {} : { damage: { bucket, key, what } };
      yield { isObject: true, stored, at, ...damage };
    }
  } catch (error) {
    // If the objects cannot be listed completely, the integrity check must still run.
    if (!(error instanceof StoreError) || error.reason === "NoSuchBucket") throw error;
    yield toDamageStep(at, error.detail);
  }
  yield* walkHistory(context, bucket, at, throttle);
  for await (const { key, what } of context.records.checkIntegrity(bucket, depth))
    yield toDamageStep(at, what, key);
  for await (const { key, stored, what } of verifyParts(context, bucket, throttle)) {
    const damage = what === undefined ? {} : { damage: { bucket, key, what } };
    yield { isObject: false, stored, at, ...damage };
  }
  for await (const what of orphanedBlobs(context, bucket)) yield toDamageStep(at, what);
}

/** Verifies the noncurrent versions. Delete markers have no bytes: reading them verifies them. */
async function* walkHistory(
  context: Context,
  bucket: string,
  at: WalkPosition,
  throttle: Throttle,
): AsyncGenerator<Step> {
  try {
    for await (const { key, found } of context.records.inspectHistory(bucket)) {
      if (!(found instanceof StoreError) && isDeleteMarker(found.version)) continue;
      const object =
        found instanceof StoreError ? found : { record: found.version as ObjectRecord, body: found.body! };
      const { stored, what } = await verifyObject(context, bucket, { key, found: object }, throttle);
      const damage = what === undefined ? {} : { damage: { bucket, key, what } };
      yield { isObject: false, stored, at, ...damage };
    }
  } catch (error) {
    if (!(error instanceof StoreError) || error.reason === "NoSuchBucket") throw error;
    yield toDamageStep(at, error.detail);
  }
}

function toDamageStep(at: WalkPosition, what: string, key?: Key): Step {
  return { isObject: false, stored: 0, damage: { bucket: at.bucket, key, what }, at };
}

interface Verification {
  readonly stored: number;
  readonly what?: string;
}

async function verifyObject(
  context: Context,
  bucket: string,
  { key, found }: InspectedObject,
  throttle: Throttle,
): Promise<Verification> {
  if (found instanceof StoreError) return { stored: 0, what: found.detail };
  try {
    return { stored: await readAll(context, bucket, found, throttle) };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    // If the object was replaced or deleted while it was read, its old version no longer matters.
    const current = await context.records.version(bucket, key, found.record.version);
    if (current === undefined) return { stored: 0 };
    if (error.reason !== "NoSuchKey") return { stored: 0, what: error.detail };
    // The same version has another location: its bytes were moved.
    const moved = { record: found.record, body: current.body! };
    return verifyObject(context, bucket, { key, found: moved }, throttle);
  }
}

/** Reads and verifies all stored bytes, and the etag if it is a hash of these bytes. */
async function readAll(
  context: Context,
  bucket: string,
  { record, body }: ObjectWithBody,
  throttle: Throttle,
): Promise<number> {
  const { encryption } = record;
  if (encryption?.masterKey !== undefined) {
    const dataKey = await openDataKey(context, encryption, { bucket, key: record.key });
    return readSealed(context, bucket, { record, body }, dataKey, throttle);
  }
  const hash = encryption === undefined && body.storage !== "parts" ? createHash("md5") : undefined;
  let stored = 0;
  if (body.storage === "inline") {
    hash?.update(body.bytes);
    stored = body.bytes.length;
  } else {
    const blobs = body.storage === "blob" ? [body.blob] : body.parts.map(({ blob }) => blob);
    const { key, version } = record;
    const isReferenced = async () => (await context.records.version(bucket, key, version)) !== undefined;
    for await (const chunk of readBlobs(context, bucket, blobs, isReferenced)) {
      hash?.update(chunk);
      stored += chunk.length;
      await throttle?.(chunk.length);
    }
  }
  if (hash !== undefined) checkEtag(record, hash);
  return stored;
}

function checkEtag({ etag }: ObjectRecord, hash: Hash): void {
  if (hash.digest("hex") === etag) return;
  throw new StoreError("Damaged", {
    detail: "The stored data is damaged: the bytes do not match their etag.",
  });
}

/** Reads and decrypts a body that is encrypted with the store's key. */
async function readSealed(
  context: Context,
  bucket: string,
  { record, body }: ObjectWithBody,
  dataKey: DataKey,
  throttle: Throttle,
): Promise<number> {
  const { key, version, size } = record;
  const current = () => context.records.version(bucket, key, version);
  const bytes = await openBody(context, body, {
    ...{ bucket, size, range: { offset: 0, length: size }, dataKey },
    isReferenced: async () => (await current()) !== undefined,
    currentBody: async () => (await current())?.body,
  });
  if (bytes === undefined) throw new StoreError("NoSuchKey");
  const hash = createHash("md5");
  for await (const chunk of bytes.chunks()) {
    hash.update(chunk);
    await throttle?.(chunk.length);
    bytes.release?.(chunk);
  }
  if (body.storage !== "parts") checkEtag(record, hash);
  if (body.storage === "inline") return body.bytes.length;
  const blobs = body.storage === "blob" ? [body.blob] : body.parts.map(({ blob }) => blob);
  return blobs.reduce((sum, blob) => sum + blob.size, 0);
}

async function* readBlobs(
  context: Context,
  bucket: string,
  blobs: readonly StoredBlob[],
  isReferenced: () => Promise<boolean>,
): AsyncIterable<Uint8Array> {
  const reader = await context.blobs.open(bucket, blobs, isReferenced);
  if (reader === undefined) throw new StoreError("NoSuchKey");
  try {
    for (const blob of blobs) yield* reader.read(blob, { offset: 0, length: blob.size });
  } finally {
    await reader.close();
  }
}

/** Verifies the parts of active uploads. */
async function* verifyParts(
  context: Context,
  bucket: string,
  throttle: Throttle,
): AsyncIterable<Verification & { key: string | undefined }> {
  try {
    for await (const { key, id } of everyUpload(context, bucket)) {
      yield* verifyUploadParts(context, bucket, { key, id }, throttle);
    }
  } catch (error) {
    if (!(error instanceof StoreError) || error.reason === "NoSuchBucket") throw error;
    yield { key: undefined, stored: 0, what: error.detail };
  }
}

async function* verifyUploadParts(
  context: Context,
  bucket: string,
  { key, id }: { readonly key: Key; readonly id: string },
  throttle: Throttle,
): AsyncIterable<Verification & { key: string }> {
  const parts = await context.records.parts(bucket, id).catch((error: unknown) => {
    if (error instanceof StoreError && error.reason === "Damaged") return error;
    throw error;
  });
  if (parts instanceof StoreError) return yield { key, stored: 0, what: parts.detail };
  for (const { number, blob, stored: size } of parts) {
    const isReferenced = async () =>
      (await context.records.parts(bucket, id)).some((part) => part.blob === blob);
    let stored = 0;
    try {
      for await (const chunk of readBlobs(context, bucket, [{ id: blob, size }], isReferenced)) {
        stored += chunk.length;
        await throttle?.(chunk.length);
      }
      yield { key, stored };
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      yield (await isReferenced())
        ? { key, stored, what: `Part ${number}: ${error.detail}` }
        : { key, stored };
    }
  }
}

async function* orphanedBlobs(context: Context, bucket: string): AsyncIterable<string> {
  for await (const blob of context.blobs.all(bucket, "settled")) {
    if (!(await context.records.referencesBlob(bucket, blob))) yield `Blob ${blob} belongs to no object.`;
  }
}
