// The port for bytes: immutable blobs, written once, read by range, removed when no record names them.
import type { ByteRange } from "../model/range.ts";

export interface Blobs {
  /**
   * Writes the chunks as one blob. A chunk stays as it is until the one after the next is asked for, so one
   * may still be on its way to the disk while the next is filled. Once this resolves the bytes survive a power cut, but no record names
   * them yet: the caller commits one and then calls `keep`, or calls `discard`. A blob left with neither
   * is an orphan that recovery removes after the process is gone, unless a record turned out to name it.
   */
  stage(bucket: string, chunks: AsyncIterable<Uint8Array>): Promise<StagedBlob>;
  /** A quicker way to stage whole bodies of middle size, which are then written together. */
  readonly batched?: BatchedBlobs;
  /**
   * Opens blobs that together are one body, first to last. What is opened stays readable until closed,
   * whatever is removed meanwhile. `stillNamed` asks the records whether they name these blobs at that
   * moment; undefined is answered when they no longer do.
   */
  open(
    bucket: string,
    blobs: readonly StoredBlob[],
    isReferenced: () => Promise<boolean>,
  ): Promise<BlobReader | undefined>;
  /** Removes blobs that were one body, for good. False when a reader still holds them: ask again later. */
  remove(bucket: string, blobs: readonly string[]): Promise<boolean>;
  /**
   * Gives back the space of removed blobs that shared it with others, once the records have forgotten them: where
   * enough was removed since the last time, or wherever there is any.
   */
  reclaim?(bucket: string, which: "touched" | "all"): Promise<void>;
  /** Whether nothing of the bucket can be removed at present, because a backup is copying it. */
  isLeased?(bucket: string): boolean;
  /**
   * Whether recovery has found processes that died. What they had buried, and what they had half filled, is then
   * seen to soon after opening.
   */
  hasFoundCrash?(): boolean;
  /** Removes what processes that are gone have staged and no record names; says how many. */
  recover(): Promise<number>;
  /** Every blob there is, named or not; or only those that nobody can still be about to name. */
  all(bucket: string, which?: "all" | "settled"): AsyncIterable<string>;
  close(): Promise<void>;
}

export interface BatchedBlobs {
  /** How large a body may be. */
  readonly maxBytes: number;
  /**
   * As `stage`; the bytes are copied by `fill` into the place it is given, at once. Undefined when there is no room for
   * it at present, and then nothing was filled.
   */
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
  /** Nobody knows whether the commit happened: what becomes of it is decided by the records. */
  leaveForRecovery?(): void;
}

export interface BlobReader {
  /**
   * The bytes of one of the opened blobs, in order, verified: a damaged block throws, it is never returned.
   * Chunks belong to the receiver. Some may be windows on `into`, each at its place, so that a receiver that
   * wants the whole range in one piece need not copy them.
   */
  read(blob: StoredBlob, range: ByteRange, into?: Uint8Array): AsyncIterable<Uint8Array>;
  /** A chunk that its receiver is done with: its memory may be used for a later one. */
  release?(chunk: Uint8Array): void;
  close(): Promise<void>;
}
