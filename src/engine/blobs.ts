// The port for bytes: immutable blobs, written once, read by range, removed when no record names
// them.
import type { ByteRange } from "../model/range.ts";

export interface Blobs {
  /**
   * Writes the chunks as one blob. The source must not reuse a chunk before it is asked for the
   * second chunk after it. Once this resolves, the bytes survive a power cut. The caller then
   * commits a record that names the blob and calls `keep`, or calls `discard`. Recovery removes a
   * blob with neither, once its process has ended, unless a record names it.
   */
  stage(bucket: string, chunks: AsyncIterable<Uint8Array>): Promise<StagedBlob>;
  /** A faster way to stage whole bodies of medium size: several are written together. */
  readonly batched?: BatchedBlobs;
  /**
   * Opens the blobs of one body. They stay readable until closed, even when removed meanwhile.
   * Undefined if the records, asked by `isReferenced`, no longer name them.
   */
  open(
    bucket: string,
    blobs: readonly StoredBlob[],
    isReferenced: () => Promise<boolean>,
  ): Promise<BlobReader | undefined>;
  /** Permanently removes the blobs of one body. False while a reader uses them: try again later. */
  remove(bucket: string, blobs: readonly string[]): Promise<boolean>;
  /** Reclaims space of removed blobs in shared files: where much was removed lately, or everywhere. */
  reclaim?(bucket: string, which: "touched" | "all"): Promise<void>;
  /** Whether removals in the bucket are suspended because a backup is copying it. */
  isLeased?(bucket: string): boolean;
  /** Whether recovery found processes that crashed: their garbage is cleaned up soon after opening. */
  hasFoundCrash?(): boolean;
  /** Removes blobs that ended processes staged and no record names. Returns how many. */
  recover(): Promise<number>;
  /** Every blob, referenced or not; "settled" omits blobs that a running process may still commit. */
  all(bucket: string, which?: "all" | "settled"): AsyncIterable<string>;
  close(): Promise<void>;
}

export interface BatchedBlobs {
  /** Largest body that may be batched. */
  readonly maxBytes: number;
  /** Like `stage`, for bytes that `fill` copies at once. Without a free buffer, undefined and no call. */
  stage(bucket: string, size: number, fill: (target: Uint8Array) => void): Promise<StagedBlob | undefined>;
}

export interface StoredBlob {
  readonly id: string;
  /** Bytes as stored. */
  readonly size: number;
}

export interface StagedBlob extends StoredBlob {
  keep(): void;
  discard(): Promise<void>;
  /** The outcome of the commit is unknown: recovery keeps the blob if a record names it. */
  leaveForRecovery?(): void;
}

export interface BlobReader {
  /**
   * The bytes of one opened blob, in order and verified: a damaged block throws and is never
   * returned. Chunks belong to the receiver. Some may be views of `into` at their offset, so that a
   * receiver of the whole range need not copy them.
   */
  read(blob: StoredBlob, range: ByteRange, into?: Uint8Array): AsyncIterable<Uint8Array>;
  /** The receiver no longer uses the chunk: its memory may be reused. */
  release?(chunk: Uint8Array): void;
  close(): Promise<void>;
}
