// The port for bytes: immutable blobs, which are written once, read by range, and removed when no
// record references them.
import type { ByteRange } from "../model/range.ts";

export interface Blobs {
  /**
   * Writes the chunks as one durable blob. The caller commits a record and calls `keep`, or calls
   * `discard`. The source must not reuse a chunk until two more were requested.
   */
  stage(bucket: string, chunks: AsyncIterable<Uint8Array>): Promise<StagedBlob>;
  /** Stages medium-sized bodies faster, by writing several together. */
  readonly batched?: BatchedBlobs;
  /**
   * Opens blobs of one body, in order. They stay readable until closed, even if removed. The first
   * blob of the body identifies it; others that will not be read can be left out. Returns undefined
   * if `isReferenced` reports that no record references the blobs; an adapter that can open all of
   * them at once need not ask.
   */
  open(
    bucket: string,
    blobs: readonly StoredBlob[],
    isReferenced: () => Promise<boolean>,
  ): Promise<BlobReader | undefined>;
  /** Like `open`, but reads the stored bytes even if they are cached, to verify them. */
  openUncached?: Blobs["open"];
  /** Permanently removes the blobs of one body. Returns false while a reader uses them. */
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
  /** Yields all blobs. "settled" omits blobs that a running process may still commit. */
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

/** Recovery removes the blob if the process ends before `keep`, unless a record references it. */
export interface StagedBlob extends StoredBlob {
  keep(): void;
  discard(): Promise<void>;
  /** Called if the outcome of the commit is unknown: recovery keeps a referenced blob. */
  leaveForRecovery?(): void;
}

export interface BlobReader {
  /**
   * Yields the verified bytes of one opened blob, in order; throws at a damaged block. Chunks
   * belong to the receiver and may be views of `into` at their offset.
   */
  read(blob: StoredBlob, range: ByteRange, into?: Uint8Array): AsyncIterable<Uint8Array>;
  /** Call this when the chunk is no longer used, so that its memory can be reused. */
  release?(chunk: Uint8Array): void;
  close(): Promise<void>;
}
