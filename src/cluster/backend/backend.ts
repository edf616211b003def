// The blob backend of a cluster: an S3 service or a directory that all machines mount. The journal
// in the database (bytes/blob-journal.ts) records which blobs are in use, in flight or garbage.
import type { ByteRange } from "../../model/range.ts";

export interface BlobBackend {
  /** Random id, created at setup. It reveals a wrong location or one that is not mounted. */
  readonly id: string;
  /**
   * Writes a new blob, durable and readable on every machine. A chunk's memory is in use until two
   * more chunks were requested. After a failure, the caller must remove the name: bytes may remain.
   */
  write(location: BlobLocation, chunks: AsyncIterable<Uint8Array>): Promise<BackendBlob>;
  /**
   * Reads the range, into `into` if given. Throws if a block is damaged or missing. A caller that
   * stops early must call `return`, which closes the file or the connection.
   */
  read(blob: BackendBlob, range: ByteRange, into?: Uint8Array): AsyncGenerator<Uint8Array>;
  /** Returns the memory of a chunk for reuse. */
  release(chunk: Uint8Array): void;
  /** Whether a blob of this size exists. The content is not read. */
  has(blob: BackendBlob): Promise<boolean>;
  /** Removes a completely written blob. A missing blob is not an error. */
  remove(blob: BackendBlob): Promise<void>;
  /** Removes all bytes that an incomplete write left under the name. */
  removeLeftovers(location: BlobLocation): Promise<void>;
  /** Lists every blob of a bucket, complete or not, with the size of its stored bytes. */
  all(bucket: string): AsyncIterable<BackendBlob>;
  /** Removes the folders of a deleted bucket, after all its blobs are removed. */
  removeBucket(bucket: string): Promise<void>;
  close(): Promise<void>;
}

export interface BlobLocation {
  /** The bucket's id. Ids are never reused, even if bucket names are. */
  readonly bucket: string;
  /** Random name of 32 hex digits. */
  readonly name: string;
}

export interface BackendBlob extends BlobLocation {
  readonly size: number;
  /** Number of blocks in each piece. 0: the blob is a single piece. */
  readonly pieceBlocks: number;
  /** Whether a piece was sent twice or more: a delayed request may arrive after the removal. */
  readonly isDoubtful?: boolean;
}
