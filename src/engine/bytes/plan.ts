// Chooses how a body is ingested. All thresholds of this choice are in this file.

export type IngestStrategy =
  /** Stored with the record, not as a blob. */
  | "inline"
  /** Collected completely, then written together with other bodies. */
  | "batched"
  /** Copied through a few buffers that all bodies share. */
  | "pooled"
  /** Copied into the body's own ring of buffers. */
  | "ring"
  /** Written by the sender into the body's own ring of buffers. */
  | "zero-copy";

export interface BodyFacts {
  /** The declared length. Undefined if the sender declares none. */
  readonly length: number | undefined;
  /** Whether all bytes are already in memory. */
  readonly isWhole: boolean;
  /** Bodies up to this size are stored inline. -1: no body is stored inline. */
  readonly inlineBytes: number;
  /** Size of the largest body that the adapter batches. Undefined: the adapter does not batch. */
  readonly maxBatchedBytes: number | undefined;
  /** Bytes that encryption adds to the body. */
  readonly sealBytes: number;
  /** The part number, or 0 for the body of an object that is put in one request. */
  readonly part: number;
  /** Number of other streams that are being received now. */
  readonly activeStreams: number;
  /** Total bytes of the streams that are now being buffered whole in memory. */
  readonly wholeStreamBytes: number;
  readonly hasDirectReader: boolean;
}

/** Memory limit of all streams that are being buffered whole in memory. */
const maxWholeStreamBytes = 16 * 1024 * 1024;

/** Bodies of at least this size, and bodies of unknown size, are hashed in another thread. */
const largeBytes = 512 * 1024;

/** With this many streams, new streams share buffers and older streams use smaller ones. */
export const highConcurrency = 32;
export const highConcurrencyBytes = 64 * 1024;

/** Chooses the strategy. A stream of unknown length may still end up inline if it is short. */
export function planIngest(facts: BodyFacts): IngestStrategy {
  const { length, isWhole, inlineBytes, hasDirectReader } = facts;
  if (length !== undefined && length <= inlineBytes) return "inline";
  if (length !== undefined && canBatch(length, facts)) return "batched";
  if (facts.activeStreams >= highConcurrency) return "pooled";
  return isLarge(length) && hasDirectReader && !isWhole ? "zero-copy" : "ring";
}

function canBatch(length: number, facts: BodyFacts): boolean {
  const { isWhole, maxBatchedBytes, sealBytes, part, wholeStreamBytes } = facts;
  if (maxBatchedBytes === undefined || length + sealBytes > maxBatchedBytes || part !== 0) return false;
  return isWhole || wholeStreamBytes + length <= maxWholeStreamBytes;
}

export function isLarge(length: number | undefined): boolean {
  return length === undefined || length >= largeBytes;
}

export interface RingSize {
  readonly size: number;
  /** "shared" memory can be read by other threads. */
  readonly memory: "own" | "shared";
  readonly buffers: number;
}

/** The first buffer is small, because small bodies fit into it. */
export const firstBuffer: RingSize = { size: 16 * 1024, memory: "own", buffers: 2 };

/**
 * Sizes the buffers after the first; `activeStreams` includes this stream. A large body has four
 * buffers, because sender, hash and disk run at different speeds.
 */
export function planRing(length: number | undefined, activeStreams: number): RingSize {
  const size = activeStreams <= 4 ? 2 * 1024 * 1024 : 256 * 1024;
  if (length === undefined || isLarge(length)) return { size, memory: "shared", buffers: 4 };
  return { size: Math.min(size, Math.max(length - firstBuffer.size, 1)), memory: "own", buffers: 2 };
}
