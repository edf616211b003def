// The blob backend of a cluster: an S3 service or a directory that all machines mount. The journal
// in the database (bytes/blob-journal.ts) knows which blobs are in use, in flight or garbage.
import type { ByteRange } from "../../model/range.ts";

export interface BlobBackend {
  /** Random id, created at setup. It detects a wrong or an empty location. */
  readonly id: string;
  /**
   * Once resolved, durable and readable on every machine. The source must not change a chunk until the
   * next but one is requested. A failed write may leave bytes: the caller then removes the name.
   */
  write(location: BlobLocation, chunks: AsyncIterable<Uint8Array>): Promise<BackendBlob>;
  /** Throws at a damaged or missing block. A caller that stops early must call `return`. */
  read(blob: BackendBlob, range: ByteRange, into?: Uint8Array): AsyncGenerator<Uint8Array>;
  /** Returns the memory of a chunk for reuse. */
  release(chunk: Uint8Array): void;
  /** Whether the whole blob exists, by its size; the content is not read. */
  has(blob: BackendBlob): Promise<boolean>;
  /** Removes a completely written blob. A missing blob is not an error. */
  remove(blob: BackendBlob): Promise<void>;
  /** Removes any bytes that an incomplete write left under the name. */
  removeLeftovers(location: BlobLocation): Promise<void>;
  /** Lists every blob of a bucket, complete or not, with the size of its stored bytes. */
  all(bucket: string): AsyncIterable<BackendBlob>;
  /** Removes the folders of a deleted bucket whose blobs are removed. */
  removeBucket(bucket: string): Promise<void>;
  close(): Promise<void>;
}

export interface BlobLocation {
  /** The bucket's id; a later bucket of the same name has another id. */
  readonly bucket: string;
  /** 32 random hex digits. */
  readonly name: string;
}

export interface BackendBlob extends BlobLocation {
  readonly size: number;
  /** Blocks in each piece; 0 when the blob is one piece. */
  readonly pieceBlocks: number;
  /** Some of it was sent more than once, so a lost request may still arrive after the removal. */
  readonly isDoubtful?: boolean;
}
