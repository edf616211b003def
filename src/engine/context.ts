// Dependencies shared by all parts of the engine: the two ports, the clock, randomness and limits.
import type { Blobs } from "./blobs.ts";
import type { HashThreads } from "./bytes/hash-pool.ts";
import type { BufferPool } from "./bytes/pooled.ts";
import type { SpareBuffers } from "./bytes/ring.ts";
import type { Records } from "./records.ts";

export interface Context {
  readonly records: Records;
  readonly blobs: Blobs;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly randomBytes: (size: number) => Buffer;
  /** Bodies up to this size are stored inside their record. */
  readonly inlineBytes: number;
  /** The unit of encryption. */
  readonly blockBytes: number;
  /** Minimum size of every part but the last in the S3 API. */
  readonly s3PartBytes: number;
  readonly hashThreads: HashThreads;
  readonly ingests: IngestState;
}

/** The bodies that are coming in now, and the memory for them. */
export interface IngestState {
  activeStreams: number;
  /** Bytes of the streams that are being collected whole. */
  wholeStreamBytes: number;
  readonly bufferPool: BufferPool;
  readonly spareBuffers: SpareBuffers;
}

/** Versions and upload ids: 32 random hex digits, never ordered. */
export function newId(context: Context): string {
  return context.randomBytes(16).toString("hex");
}
