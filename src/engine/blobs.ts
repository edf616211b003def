// The port for bytes: immutable blobs, which are written once, read by range, and removed when no
// record references them.
import type { ByteRange } from "../model/range.ts";

export interface Blobs {
  /**
   * Writes the chunks as one blob. The source must not reuse a chunk's memory until two more chunks
   * were requested. When the promise resolves, the bytes are durable. The caller then commits a
   * record that references the blob and calls `keep`, or calls `discard`. If the process ends
   * before either call, recovery removes the blob unless a record references it.
   */
  stage(bucket: string, chunks: AsyncIterable<Uint8Array>): Promise<StagedBlob>;
  /** Stages medium-sized bodies faster, by writing several together. */
  readonly batched?: BatchedBlobs;
  /**
   * Opens the blobs of one body, first to last. They stay readable until they are closed, even if
   * they are removed. `isReferenced` queries whether a record still references the blobs; if not,
   * the result is undefined.
   */
  open(
    bucket: string,
    blobs: readonly StoredBlob[],
    isReferenced: () => Promise<boolean>,
  ): Promise<BlobReader | undefined>;
  /** Permanently removes the blobs of one body. False while a reader uses them: retry later. */
  remove(bucket: string, blobs: readonly string[]): Promise<boolean>;
  /**
   * Reclaims the space of removed blobs in shared files, after the records dropped their entries.
   * "touched": only files from which enough was removed since the last call. "all": every file.
   */
  reclaim?(bucket: string, which: "touched" | "all"): Promise<void>;
  /** Whether removals in the bucket are suspended because a backup is copying it. */
  isLeased?(bucket: string): boolean;
  /**
   * Whether recovery found crashed processes. Their garbage and half-filled files are then cleaned
   * up soon after opening.
   */
  hasFoundCrash?(): boolean;
  /** Removes blobs staged by dead processes that no record references. Returns their number. */
  recover(): Promise<number>;
  /**
   * Every blob, referenced or not. "settled" omits blobs that a running process may still commit.
   */
  all(bucket: string, which?: "all" | "settled"): AsyncIterable<string>;
  close(): Promise<void>;
}

export interface BatchedBlobs {
  /** Size of the largest body that can be batched. */
  readonly maxBytes: number;
  /**
   * Like `stage`, for bytes that `fill` copies synchronously into the given buffer. If no buffer is
   * free, `fill` is not called and the result is undefined.
   */
  stage(bucket: string, size: number, fill: (target: Uint8Array) => void): Promise<StagedBlob | undefined>;
}

export interface StoredBlob {
  readonly id: string;
  /** Size of the blob as stored. */
  readonly size: number;
}

export interface StagedBlob extends StoredBlob {
  keep(): void;
  discard(): Promise<void>;
  /** Called if the outcome of the commit is unknown: recovery keeps a referenced blob. */
  leaveForRecovery?(): void;
}

export interface BlobReader {
  /**
   * Yields the bytes of one opened blob, in order and verified: a damaged block throws and is never
   * returned. Chunks belong to the receiver. Chunks may be views of `into` at their offset, so that
   * a receiver of the whole range need not copy them.
   */
  read(blob: StoredBlob, range: ByteRange, into?: Uint8Array): AsyncIterable<Uint8Array>;
  /** Call this when the chunk is no longer used, so that its memory can be reused. */
  release?(chunk: Uint8Array): void;
  close(): Promise<void>;
}
