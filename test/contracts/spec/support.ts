// Helpers of the spec suites: a bucket, test values and checks of errors.
import assert from "node:assert/strict";
import { after, before, type TestContext } from "node:test";
import {
  FixedLengthStream,
  type OpenOptions,
  type Store,
  type StoreBucket,
  StoreError,
  type StoreGetOptions,
  type StoreMultipartOptions,
  type StoreMultipartUpload,
  type StoreObject,
  type StoreObjectBody,
  type StorePartValue,
  type StoreUploadedPart,
} from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";

export const day = 24 * 3600 * 1000;

/** Sizes below and above the thresholds at which implementations change how they store bytes. */
export const sizes = [0, 1, 4096, 4097, 65_536, 65_537, 300_001] as const;

/** An empty, a small and a multi-block size, for tests that hardly depend on the size. */
export const fewSizes = [0, 5, 70_001] as const;

export interface OpenBucket {
  readonly store: Store;
  readonly bucket: StoreBucket;
}

export async function openBucket(
  implementation: Implementation,
  t: TestContext,
  options?: OpenOptions,
): Promise<OpenBucket> {
  const store = await implementation.open(t, options);
  await store.createBucket("bucket");
  return { store, bucket: store.bucket("bucket") };
}

/**
 * Opens one store for all tests of a suite, since opening takes longer than most tests. Each test
 * starts with an empty bucket.
 */
export function sharedBucket(
  implementation: Implementation,
  options?: OpenOptions,
): () => Promise<OpenBucket> {
  const endings: (() => unknown)[] = [];
  const suite = { after: (end: () => unknown) => void endings.push(end) } as unknown as TestContext;
  let opened: OpenBucket | undefined;
  before(async () => {
    opened = await openBucket(implementation, suite, options);
  });
  after(async () => {
    for (const end of endings) await end();
  });
  return async () => {
    assert.ok(opened !== undefined);
    await empty(opened.bucket);
    return opened;
  };
}

async function empty(bucket: StoreBucket): Promise<void> {
  for (;;) {
    const { objects, truncated } = await bucket.list();
    if (objects.length > 0) await bucket.delete(objects.map((object) => object.key));
    if (!truncated) return;
  }
}

export interface StoppedClock {
  readonly now: () => number;
  advance(milliseconds: number): void;
}

/**
 * Returns a clock stopped half a second past a full second: rounding to seconds changes its time.
 */
export function stoppedClock(): StoppedClock {
  let time = Date.UTC(2024, 4, 6, 7, 8, 9, 500);
  return {
    now: () => time,
    advance(milliseconds) {
      time += milliseconds;
    },
  };
}

/** Returns bytes that repeat only after more than 64 KiB, so that a misplaced block is detected. */
export function pattern(length: number, seed = 0): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = (i * 31 + (i >> 8) * 7 + (i >> 16) * 101 + seed) & 0xff;
  return bytes;
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Returns a new buffer that contains exactly the given bytes. */
export function arrayBufferOf(bytes: Uint8Array): ArrayBuffer {
  const buffer = new ArrayBuffer(bytes.byteLength);
  new Uint8Array(buffer).set(bytes);
  return buffer;
}

/** Returns a stream of unknown length. */
export function unknownLength(bytes: Uint8Array, chunk = 10_007): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.byteLength) return controller.close();
      controller.enqueue(bytes.slice(at, at + chunk));
      at += chunk;
    },
  });
}

/** Returns a stream of known length. */
export function knownLength(bytes: Uint8Array): ReadableStream<Uint8Array> {
  const fixed = new FixedLengthStream(bytes.byteLength);
  void unknownLength(bytes).pipeTo(fixed.writable);
  return fixed.readable;
}

/** Compares bytes and reports only the first difference; assert.deepEqual would print all bytes. */
export function assertBytes(actual: Uint8Array | ArrayBuffer, expected: Uint8Array, what = "bytes"): void {
  const bytes = new Uint8Array(actual);
  assert.equal(bytes.byteLength, expected.byteLength, `${what}: the length`);
  if (Buffer.compare(bytes, expected) === 0) return;
  assert.fail(`${what}: byte ${bytes.findIndex((byte, i) => byte !== expected[i])} differs`);
}

type Found = Omit<StoreGetOptions, "onlyIf">;

export async function mustGet(bucket: StoreBucket, key: string, options?: Found): Promise<StoreObjectBody> {
  const object = await bucket.get(key, { ...options, onlyIf: undefined });
  assert.ok(object !== null, `"${key}" is there`);
  return object;
}

export async function mustHead(bucket: StoreBucket, key: string): Promise<StoreObject> {
  const object = await bucket.head(key);
  assert.ok(object !== null, `"${key}" is there`);
  return object;
}

export async function contentOf(bucket: StoreBucket, key: string, options?: Found): Promise<Uint8Array> {
  return new Uint8Array(await (await mustGet(bucket, key, options)).arrayBuffer());
}

export async function textOf(bucket: StoreBucket, key: string, options?: Found): Promise<string> {
  return (await mustGet(bucket, key, options)).text();
}

export async function keysIn(bucket: StoreBucket): Promise<string[]> {
  return (await bucket.list()).objects.map((object) => object.key);
}

/** Lists the key with all metadata and returns its only entry. */
export async function mustList(bucket: StoreBucket, key: string): Promise<StoreObject> {
  const { objects } = await bucket.list({ prefix: key, include: ["httpMetadata", "customMetadata"] });
  const object = objects.find((entry) => entry.key === key);
  assert.ok(object !== undefined, `"${key}" is listed`);
  return object;
}

/** Returns the fields of an object that do not depend on the method that returned it. */
export function fieldsOf(object: StoreObject): Record<string, unknown> {
  const { key, version, size, etag, httpEtag, uploaded, checksums, storageClass, ssecKeyMd5 } = object;
  return {
    ...{ key, version, size, etag, httpEtag, uploaded, storageClass, ssecKeyMd5 },
    checksums: { ...checksums.toJSON() },
    httpMetadata: { ...object.httpMetadata },
    customMetadata: { ...object.customMetadata },
  };
}

export async function uploadParts(
  upload: StoreMultipartUpload,
  values: readonly StorePartValue[],
  options?: Pick<StoreMultipartOptions, "ssecKey">,
): Promise<StoreUploadedPart[]> {
  return Promise.all(values.map((value, i) => upload.uploadPart(i + 1, value, options)));
}

/** Creates an object from parts. */
export async function putInParts(
  bucket: StoreBucket,
  key: string,
  values: readonly StorePartValue[],
  options: StoreMultipartOptions = {},
): Promise<StoreObject> {
  const upload = await bucket.createMultipartUpload(key, options);
  const { ssecKey } = options;
  return upload.complete(await uploadParts(upload, values, ssecKey === undefined ? undefined : { ssecKey }));
}

/** Checks that the call rejects with a StoreError that has this action and code. */
export async function refused(work: Promise<unknown>, action: string, code: number): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof StoreError, `a StoreError, not ${String(error)}`);
    assert.ok(error instanceof Error);
    assert.equal(error.name, "StoreError");
    assert.equal(error.code, code, error.message);
    assert.equal(error.action, action);
    assert.ok(error.message.startsWith(`${action}: `), error.message);
    assert.ok(error.message.endsWith(` (${code})`), error.message);
    return true;
  });
}

/** Checks that the call fails with an invalid-argument error, without action and code. */
export async function wrongArgument(
  work: Promise<unknown>,
  kind: typeof TypeError | typeof RangeError,
  message = /./,
): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof kind, `a ${kind.name}, not ${String(error)}`);
    assert.ok(!("code" in error), "no code");
    assert.match(error.message, message);
    return true;
  });
}
