// Types and values that the tests of the blob backend contract share.
import { randomBytes } from "node:crypto";
import type { TestContext } from "node:test";
import type { BackendBlob, BlobBackend, BlobLocation } from "../../../src/cluster/backend/backend.ts";
import type { ByteRange } from "../../../src/model/range.ts";
import { collect, inChunks } from "../../support/bytes.ts";

export interface OpenedShelf {
  readonly shelf: BlobBackend;
  /** The same backend, opened by another process. */
  readonly other: BlobBackend;
  /** Changes the stored bytes of one piece of a blob directly; undefined deletes the piece. */
  change(blob: BackendBlob, piece: number, how: (stored: Buffer) => Buffer | undefined): Promise<void>;
  /** Number of files or objects stored for a bucket. */
  left(bucket: string): Promise<number>;
}

export type Chapter = (t: TestContext, opened: OpenedShelf) => Promise<void>;

export const block = 65_536;

export function newBucket(): string {
  return randomBytes(8).toString("hex");
}

export function newPlace(bucket = newBucket()): BlobLocation {
  return { bucket, name: randomBytes(16).toString("hex") };
}

export function write(
  shelf: BlobBackend,
  bytes: Uint8Array,
  place = newPlace(),
  chunkSize = 100_000,
): Promise<BackendBlob> {
  return shelf.write(place, inChunks(bytes, chunkSize));
}

export function read(
  shelf: BlobBackend,
  blob: BackendBlob,
  range: ByteRange = { offset: 0, length: blob.size },
): Promise<Buffer> {
  return collect(shelf.read(blob, range));
}
