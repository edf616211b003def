// What the chapters of the shelf contract share.
import { randomBytes } from "node:crypto";
import type { TestContext } from "node:test";
import type { BackendBlob, BlobBackend, BlobLocation } from "../../../src/cluster/backend/backend.ts";
import type { ByteRange } from "../../../src/model/range.ts";
import { collect, inChunks } from "../../support/bytes.ts";

export interface OpenedShelf {
  readonly shelf: BlobBackend;
  /** The same place, as another machine sees it. */
  readonly other: BlobBackend;
  /** Changes what lies there behind the shelf's back: one piece of a blob. Undefined takes it away. */
  change(blob: BackendBlob, piece: number, how: (stored: Buffer) => Buffer | undefined): Promise<void>;
  /** Everything that lies there for a bucket: files or objects. */
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
