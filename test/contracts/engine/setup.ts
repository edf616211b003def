// Helpers that the tests of the engine contract share.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Blobs } from "../../../src/engine/blobs.ts";
import type { ByteStream, Engine, GetOptions, GetOutcome } from "../../../src/engine/engine.ts";
import type { Records } from "../../../src/engine/records.ts";
import type { UploadName } from "../../../src/engine/uploads/upload-operations.ts";
import type { Reason } from "../../../src/model/errors.ts";
import type { PartRecord } from "../../../src/model/upload.ts";
import { collect, inChunks, toArray } from "../../support/bytes.ts";

/** An engine with its blobs, so that tests can check which blobs remain. */
export interface OpenedEngine {
  readonly engine: Engine;
  readonly blobs: Blobs;
  readonly records: Records;
}

export interface EngineChoices {
  readonly now?: () => number;
  readonly openUploads?: number;
  readonly encryption?: "always";
}

export type OpenEngine = (t: TestContext, options?: EngineChoices) => Promise<OpenedEngine>;

/** An engine that tests share, with its clock. */
export interface SharedEngine extends OpenedEngine {
  readonly time: ReturnType<typeof clock>;
}

/** Tests that share one engine; each starts with an empty bucket. */
export type Chapter = (t: TestContext, shared: SharedEngine) => Promise<void>;

export const bucket = "bucket";
export const day = 24 * 3600 * 1000;

/** Opens an engine with an empty bucket. */
export async function openBucket(
  open: OpenEngine,
  t: TestContext,
  options?: EngineChoices,
): Promise<OpenedEngine> {
  const opened = await open(t, options);
  await opened.engine.createBucket(bucket);
  return opened;
}

/** Empties the bucket of a shared engine. */
export async function emptied(shared: SharedEngine): Promise<SharedEngine> {
  const { engine } = shared;
  if ((await engine.bucket(bucket)) !== undefined) {
    await removeVersions(engine);
    await engine.deleteBucket(bucket);
  }
  await engine.createBucket(bucket);
  return shared;
}

async function removeVersions(engine: Engine): Promise<void> {
  const { versions, next } = await engine.listVersions(bucket);
  const targets = versions.map(({ version: { key, version } }) => ({ key, version }));
  const outcomes = await engine.deleteVersions(bucket, targets, { bypassGovernance: true });
  for (const { outcome } of outcomes) assert.equal(outcome, "deleted");
  if (next !== undefined) await removeVersions(engine);
}

/** Returns a clock that changes only when the test sets it. */
export function clock() {
  const clock = { time: Date.UTC(2024, 0, 1), now: () => clock.time };
  return clock;
}

export const failsWith = (reason: Reason) => ({ name: "StoreError", reason });

export type Found = Extract<GetOutcome, { outcome: "found" }>;

export async function found(engine: Engine, key: string, options?: GetOptions): Promise<Found> {
  const got = await engine.get(bucket, key, options);
  assert.equal(got.outcome, "found");
  return got as Found;
}

export async function contentOf(engine: Engine, key: string, options?: GetOptions): Promise<Buffer> {
  const { bytes } = await found(engine, key, options);
  const content = await collect(bytes.chunks());
  assert.equal(content.length, bytes.length);
  return content;
}

export async function exists(engine: Engine, key: string): Promise<boolean> {
  return (await engine.head(bucket, key)) !== undefined;
}

/** Frees unreferenced blobs and returns the number of remaining blobs. */
export async function blobsLeft({ engine, blobs }: OpenedEngine): Promise<number> {
  await engine.sweep();
  return (await toArray(blobs.all(bucket))).length;
}

export async function uploadParts(
  engine: Engine,
  upload: UploadName,
  bodies: Record<number, Uint8Array>,
): Promise<PartRecord[]> {
  const parts: PartRecord[] = [];
  for (const [number, body] of Object.entries(bodies)) {
    parts.push(await engine.uploadPart(bucket, upload, Number(number), body));
  }
  return parts;
}

export interface ProbeOptions {
  readonly length?: number;
  readonly chunkSize?: number;
  /** Error that the stream throws after its last byte. */
  readonly failure?: Error;
  /** Called and awaited before each chunk. */
  readonly gate?: () => Promise<void>;
}

/** A stream that records how it was used. */
export interface Probe extends ByteStream {
  readonly seen: { pulled: number; ended: boolean; cancelled: boolean; reason: unknown };
}

export function probe(bytes: Uint8Array, options: ProbeOptions = {}): Probe {
  const { length, chunkSize = 1000, failure, gate } = options;
  const seen = { pulled: 0, ended: false, cancelled: false, reason: undefined as unknown };
  return {
    length,
    seen,
    async *chunks() {
      for await (const chunk of inChunks(bytes, chunkSize)) {
        await gate?.();
        seen.pulled++;
        yield chunk;
      }
      if (failure !== undefined) throw failure;
      await gate?.();
      seen.ended = true;
    },
    async cancel(reason) {
      seen.cancelled = true;
      seen.reason = reason;
    },
  };
}

/** Returns a promise and the function that resolves it. */
export function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
