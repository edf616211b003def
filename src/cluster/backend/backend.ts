// Where the bytes of blobs lie in a cluster: on a shelf, an S3 service or a directory that all machines mount. A shelf
// knows nothing of records: which bytes are named, in flight or dead is written in the database (ledger.ts).
import type { ByteRange } from "../../model/range.ts";

export interface BlobBackend {
  /** What tells this shelf from any other: made when it was set up, so that a wrong or empty one can be told. */
  readonly id: string;
  /**
   * Writes the chunks under a name that was never used before; once this resolves they last, and a read on
   * any machine finds them. A chunk stays as it is until the one after the next is asked for. When it fails,
   * something may have been written, and may even arrive later: the caller has the name removed.
   */
  write(location: BlobLocation, chunks: AsyncIterable<Uint8Array>): Promise<BackendBlob>;
  /**
   * The range's bytes, each block verified: a damaged or missing one throws, it is never returned. They are laid
   * into `into`, if given, each at its place. Whoever stops early calls `return`, which frees what it holds.
   */
  read(blob: BackendBlob, range: ByteRange, into?: Uint8Array): AsyncGenerator<Uint8Array>;
  /** A chunk that its receiver is done with: its memory may be used for a later one. */
  release(chunk: Uint8Array): void;
  /** Whether all of it is there, as far as can be told without reading it. */
  has(blob: BackendBlob): Promise<boolean>;
  /** Removes a blob that was written to its end. One that is not there is as good as removed. */
  remove(blob: BackendBlob): Promise<void>;
  /** Removes whatever was written under a name, if anything, of a write that did not come to its end. */
  removeLeftovers(location: BlobLocation): Promise<void>;
  /** Every blob of a bucket there is, whole or not, as far as its size can be told from what is there. */
  all(bucket: string): AsyncIterable<BackendBlob>;
  /** Removes what the empty bucket itself takes. Only for one that is deleted and whose blobs are removed. */
  removeBucket(bucket: string): Promise<void>;
  close(): Promise<void>;
}

export interface BlobLocation {
  /** The bucket's id, which no later bucket of its name has. */
  readonly bucket: string;
  /** 32 random hex digits. */
  readonly name: string;
}

export interface BackendBlob extends BlobLocation {
  readonly size: number;
  /** How it was cut into pieces, in blocks a piece; 0 when it is one. Reading it back needs to know. */
  readonly pieceBlocks: number;
  /** Some of it was sent more than once: what was given up on the way may still arrive when it is removed. */
  readonly isDoubtful?: boolean;
}
