// Decides how a body is brought in, from facts alone. Every threshold of this choice is here.

export type IngestStrategy =
  /** Kept beside the record, not as a blob. */
  | "inline"
  /** Collected whole, then written together with other bodies. */
  | "batched"
  /** Copied through the few buffers that all bodies share. */
  | "pooled"
  /** Copied into a ring of buffers of its own. */
  | "ring"
  /** Written by its sender into a ring of buffers of its own. */
  | "zero-copy";

export interface BodyFacts {
  /** Undefined when the sender declares no length. */
  readonly length: number | undefined;
  /** Whether all bytes are in memory already. */
  readonly isWhole: boolean;
  /** Bodies up to this size are kept inline; -1: none is. */
  readonly inlineBytes: number;
  /** The largest body that the adapter batches; undefined: it batches none. */
  readonly maxBatchedBytes: number | undefined;
  readonly isEncrypted: boolean;
  /** 0 for the body of an object that is put in one request. */
  readonly part: number;
  /** Streams that are coming in now, this one not counted. */
  readonly activeStreams: number;
  /** Bytes of the streams that are being collected whole now. */
  readonly wholeStreamBytes: number;
  readonly hasDirectReader: boolean;
}

/** Memory that streams may take while they are collected whole. */
const maxWholeStreamBytes = 16 * 1024 * 1024;

/** Bodies from this size on, and bodies of unknown size, are hashed in another thread. */
const largeBytes = 512 * 1024;

/** From this number of streams on, new ones share buffers and older ones use smaller buffers. */
export const highConcurrency = 32;
export const highConcurrencyBytes = 64 * 1024;

/** A body of unknown length may still turn out to fit within `inlineBytes`. */
export function planIngest(facts: BodyFacts): IngestStrategy {
  const { length, isWhole, inlineBytes, hasDirectReader } = facts;
  if (length !== undefined && length <= inlineBytes) return "inline";
  if (length !== undefined && canBatch(length, facts)) return "batched";
  if (facts.activeStreams >= highConcurrency) return "pooled";
  return isLarge(length) && hasDirectReader && !isWhole ? "zero-copy" : "ring";
}

function canBatch(length: number, facts: BodyFacts): boolean {
  const { isWhole, maxBatchedBytes, isEncrypted, part, wholeStreamBytes } = facts;
  if (maxBatchedBytes === undefined || length > maxBatchedBytes || isEncrypted || part !== 0) return false;
  return isWhole || wholeStreamBytes + length <= maxWholeStreamBytes;
}

export function isLarge(length: number | undefined): boolean {
  return length === undefined || length >= largeBytes;
}

export interface RingSize {
  readonly size: number;
  /** Memory that other threads can read, or this thread's own. */
  readonly memory: "own" | "shared";
  readonly buffers: number;
}

/** Small bodies end in the first buffer, so it is small. */
export const firstBuffer: RingSize = { size: 16 * 1024, memory: "own", buffers: 2 };

/**
 * Buffers after the first; `activeStreams` includes this one. A large body has four, because
 * sender, hash and disk run at different speeds and the last sync should not wait for the hash.
 */
export function planRing(length: number | undefined, activeStreams: number): RingSize {
  const size = activeStreams <= 4 ? 2 * 1024 * 1024 : 256 * 1024;
  if (length === undefined || isLarge(length)) return { size, memory: "shared", buffers: 4 };
  return { size: Math.min(size, Math.max(length - firstBuffer.size, 1)), memory: "own", buffers: 2 };
}
