// Dependencies shared by all parts of the engine: the two ports, the clock, randomness and limits.
import type { Buffer } from "node:buffer";
import type { Blobs } from "./blobs.ts";
import type { HashThreads } from "./bytes/hash-pool.ts";
import type { BufferPool } from "./bytes/pooled.ts";
import type { SpareBuffers } from "./bytes/ring.ts";
import type { KeySeeds } from "./encryption/key-seeds.ts";
import type { EncryptionOptions } from "./master-keys.ts";
import type { QuotaEnforcement } from "./quotas/enforcement.ts";
import type { Records } from "./records.ts";

export interface Context {
  readonly records: Records;
  readonly blobs: Blobs;
  /** Returns the current time in milliseconds since the epoch. */
  readonly now: () => number;
  readonly randomBytes: (size: number) => Buffer;
  /** Bodies up to this size are stored inside their record. */
  readonly inlineBytes: number;
  /** Size of an encrypted block before encryption. */
  readonly blockBytes: number;
  /** Minimum part size in the S3 API, for every part except the last. */
  readonly s3PartBytes: number;
  readonly hashThreads: HashThreads;
  readonly ingests: IngestState;
  /** Undefined if the engine was created without the store's encryption keys. */
  readonly encryption: EncryptionOptions | undefined;
  readonly keySeeds: KeySeeds;
  readonly quotas: QuotaEnforcement;
  /** Called when lifecycle rules have deleted objects of a bucket. */
  readonly onExpired?: ((expired: ExpiredObjects) => Promise<void>) | undefined;
}

/** What one run of lifecycle rules deleted in a bucket. */
export interface ExpiredObjects {
  readonly bucket: string;
  readonly objects: number;
  readonly versions: number;
  readonly uploads: number;
}

/** The bodies that are being received now, and the memory for them. */
export interface IngestState {
  activeStreams: number;
  /** Total bytes of the streams that are being buffered whole in memory. */
  wholeStreamBytes: number;
  readonly bufferPool: BufferPool;
  readonly spareBuffers: SpareBuffers;
}

/** Returns a new version id: 32 random hex digits, which have no order. */
export function newId(context: Context): string {
  return context.randomBytes(16).toString("hex");
}

/** Returns a new upload id of 32 hex digits. Ids sort by time, as S3 lists the uploads of a key. */
export function newUploadId(context: Context, created: number): string {
  return Math.floor(created).toString(16).padStart(12, "0") + context.randomBytes(10).toString("hex");
}
