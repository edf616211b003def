// Shared parts of the binding contracts: a bucket with content, exact checks of errors, and checks
// that a refused call changed nothing.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import {
  type OpenOptions,
  type Store,
  type StoreBucket,
  StoreError,
  type StoreMultipartUpload,
  type StoreObject,
  type StoreUploadedPart,
} from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";

export const secret = "0123456789abcdef".repeat(4);
export const otherSecret = "f0".repeat(32);

export const MiB = 1024 * 1024;
export const day = 24 * 3600 * 1000;

/** The methods of a bucket without argument types, as an untyped script calls them. */
export interface LooseBucket {
  head(...args: unknown[]): Promise<unknown>;
  get(...args: unknown[]): Promise<unknown>;
  put(...args: unknown[]): Promise<unknown>;
  delete(...args: unknown[]): Promise<unknown>;
  list(...args: unknown[]): Promise<unknown>;
  createMultipartUpload(...args: unknown[]): Promise<StoreMultipartUpload>;
  resumeMultipartUpload(...args: unknown[]): StoreMultipartUpload;
}

export interface LooseUpload {
  uploadPart(...args: unknown[]): Promise<unknown>;
  complete(...args: unknown[]): Promise<unknown>;
  abort(...args: unknown[]): Promise<unknown>;
}

export function loose(bucket: StoreBucket): LooseBucket {
  return bucket as unknown as LooseBucket;
}

export function looseUpload(upload: StoreMultipartUpload): LooseUpload {
  return upload as unknown as LooseUpload;
}

export interface OpenedBucket {
  readonly store: Store;
  readonly name: string;
  readonly bucket: StoreBucket;
}

/** Tests may share a store, so every bucket gets a unique name. */
let bucketCount = 0;

export async function openBucket(
  t: TestContext,
  implementation: Implementation,
  options?: OpenOptions,
): Promise<OpenedBucket> {
  const store = await implementation.open(t, options);
  const name = `bucket-${++bucketCount}`;
  await store.createBucket(name);
  return { store, name, bucket: store.bucket(name) };
}

export interface Scene extends OpenedBucket {
  readonly loose: LooseBucket;
  /** An incomplete upload of the key "ongoing" with two parts. */
  readonly upload: StoreMultipartUpload;
  readonly parts: readonly StoreUploadedPart[];
  /** Checks that the call fails with exactly this error and changes nothing in the store. */
  refuses(expected: ExpectedError, act: () => unknown): Promise<StoreError>;
  /** Checks that the call fails with this argument error and changes nothing in the store. */
  refusesArgument(expected: ExpectedArgumentError, act: () => unknown): Promise<Error>;
  /** Checks that the call, whatever its result, changes nothing in the store. */
  unchangedBy<T>(act: () => Promise<T>): Promise<T>;
  /** Checks that the upload in flight can still be completed. */
  completesOngoing(): Promise<void>;
}

/**
 * Creates a bucket with a plain, an encrypted, an empty and a larger object, and an upload in
 * flight.
 */
export async function furnish(
  t: TestContext,
  implementation: Implementation,
  options?: OpenOptions,
): Promise<Scene> {
  const { store, name, bucket } = await openBucket(t, implementation, options);
  const [upload] = await Promise.all([
    bucket.createMultipartUpload("ongoing", { customMetadata: { kind: "ongoing" } }),
    bucket.put("kept", "the kept value", {
      httpMetadata: { contentType: "text/plain", cacheExpiry: new Date(1_900_000_000_000) },
      customMetadata: { colour: "blue" },
    }),
    bucket.put("sealed", "the sealed value", { ssecKey: secret }),
    bucket.put("empty", null),
    bucket.put("larger", patterned(10_000)),
  ]);
  const parts = await Promise.all([upload.uploadPart(1, "hello"), upload.uploadPart(2, "world")]);

  const before = await snapshot(store, bucket);
  const unchangedBy: Scene["unchangedBy"] = async (act) => {
    try {
      return await act();
    } finally {
      const after = await snapshot(store, bucket);
      if (after !== before) assert.deepEqual(JSON.parse(after), JSON.parse(before));
    }
  };
  return {
    store,
    name,
    bucket,
    loose: loose(bucket),
    upload,
    parts,
    unchangedBy,
    refuses: (expected, act) => unchangedBy(() => rejectsWith(expected, act)),
    refusesArgument: (expected, act) => unchangedBy(() => rejectsArgument(expected, act)),
    async completesOngoing() {
      const third = await upload.uploadPart(3, "!");
      const object = await upload.complete([...parts, third]);
      assert.deepEqual({ ...object.customMetadata }, { kind: "ongoing" });
      assert.equal(await textOf(bucket, "ongoing"), "helloworld!");
    },
  };
}

/** Returns everything that a caller can read from the store, as JSON. */
async function snapshot(store: Store, bucket: StoreBucket): Promise<string> {
  const objects: unknown[] = [];
  for (const object of await listAll(bucket)) {
    const options = object.ssecKeyMd5 === undefined ? {} : { ssecKey: secret };
    const stored = await bucket.get(object.key, options);
    assert.ok(stored, `"${object.key}" is listed and cannot be read`);
    objects.push({ ...described(object), bytes: Buffer.from(await stored.arrayBuffer()).toString("base64") });
  }
  return JSON.stringify({ buckets: await store.listBuckets(), objects });
}

export async function listAll(bucket: StoreBucket): Promise<StoreObject[]> {
  const objects: StoreObject[] = [];
  let cursor: string | undefined;
  do {
    const page = await bucket.list({ cursor, include: ["httpMetadata", "customMetadata"] });
    objects.push(...page.objects);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return objects;
}

/** Returns the fields of an object as plain data. */
export function described(object: StoreObject): Record<string, unknown> {
  return {
    key: object.key,
    version: object.version,
    size: object.size,
    etag: object.etag,
    httpEtag: object.httpEtag,
    uploaded: object.uploaded.getTime(),
    httpMetadata: { ...object.httpMetadata },
    customMetadata: Object.entries(object.customMetadata ?? {}).sort(),
    checksums: { ...object.checksums.toJSON() },
    storageClass: object.storageClass,
    ssecKeyMd5: object.ssecKeyMd5,
  };
}

export interface ExpectedError {
  readonly code: number;
  readonly action: string;
  /** The text between action and code. Omitted if binding.md does not specify it. */
  readonly message?: string;
}

/** Checks that the call rejects with exactly the expected StoreError and does not throw. */
export async function rejectsWith(expected: ExpectedError, act: () => unknown): Promise<StoreError> {
  const error = await rejection(act);
  assert.ok(error instanceof StoreError, `not a StoreError: ${String(error)}`);
  assert.ok(error instanceof Error);
  assert.equal(error.name, "StoreError");
  assert.equal(error.code, expected.code, error.message);
  assert.equal(error.action, expected.action);
  if (expected.message === undefined) {
    assert.ok(error.message.startsWith(`${expected.action}: `), error.message);
    assert.ok(error.message.endsWith(` (${expected.code})`), error.message);
  } else {
    assert.equal(error.message, `${expected.action}: ${expected.message} (${expected.code})`);
  }
  return error;
}

export interface ExpectedArgumentError {
  readonly type?: "TypeError" | "RangeError";
  readonly message?: RegExp;
}

/**
 * Checks that the call rejects with a TypeError or RangeError without action and code, and does not
 * throw.
 */
export async function rejectsArgument(expected: ExpectedArgumentError, act: () => unknown): Promise<Error> {
  const error = await rejection(act);
  return isArgumentError(expected, error);
}

export function isArgumentError(expected: ExpectedArgumentError, error: unknown): Error {
  const type = expected.type ?? "TypeError";
  assert.ok(
    error instanceof (type === "TypeError" ? TypeError : RangeError),
    `not a ${type}: ${String(error)}`,
  );
  assert.equal("code" in error, false, `a wrong argument has no code: ${error.message}`);
  assert.doesNotMatch(error.message, /^\w+: .* \(\d+\)$/);
  assert.doesNotMatch(
    error.message,
    /^(head|get|put|delete|list|createMultipartUpload|uploadPart|(complete|abort)MultipartUpload): /,
  );
  if (expected.message !== undefined) assert.match(error.message, expected.message);
  return error;
}

/** Returns the error of a rejected call. Fails if the call succeeds or throws synchronously. */
export async function rejection(act: () => unknown): Promise<unknown> {
  let answer: unknown;
  try {
    answer = act();
  } catch (error) {
    assert.fail(`thrown synchronously, not rejected: ${String(error)}`);
  }
  assert.ok(answer instanceof Promise, "the method returns a promise");
  const settled = await answer.then(
    () => ({ resolved: true as const }),
    (error: unknown) => ({ resolved: false as const, error }),
  );
  if (settled.resolved) assert.fail("resolved where it must be refused");
  return settled.error;
}

/** Returns the value of an existing key as text. */
export async function textOf(bucket: StoreBucket, key: string): Promise<string> {
  const object = await bucket.get(key);
  assert.ok(object, `no object "${key}"`);
  return object.text();
}

/** Returns bytes in which neighbouring sections differ, so that misplaced bytes are detected. */
export function patterned(length: number, seed = 1): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let state = seed;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[i] = state >>> 16;
  }
  return bytes;
}

export function digest(algorithm: string, bytes: string | Uint8Array): string {
  return createHash(algorithm).update(bytes).digest("hex");
}

export interface WatchedStream {
  readonly stream: ReadableStream<Uint8Array>;
  pulls(): number;
  /** Whether the reader cancelled the stream. */
  cancelled(): Promise<boolean>;
  /** Whether the stream was read to its end. */
  ended(): boolean;
}

/** A stream that produces chunks on demand only, and records how it was used. */
export function watchedStream(chunks: readonly (string | Uint8Array)[] = ["chunk"]): WatchedStream {
  let pulls = 0;
  let cancelled = false;
  let ended = false;
  const rest = chunks.map((chunk) => (typeof chunk === "string" ? Buffer.from(chunk) : chunk));
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        pulls++;
        const chunk = rest.shift();
        if (chunk !== undefined) controller.enqueue(chunk);
        else {
          ended = true;
          controller.close();
        }
      },
      cancel() {
        cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return {
    stream,
    pulls: () => pulls,
    ended: () => ended,
    async cancelled() {
      await setImmediate();
      return cancelled;
    },
  };
}
