// The format of stored blobs: blocks, each followed by its CRC-32. A checksum also covers the
// blob's name and the block's number, so that a block at the wrong position is detected.
import { Buffer } from "node:buffer";
import { crc32 } from "@node-rs/crc32";
import { StoreError } from "../../model/errors.ts";
import { limits } from "../../model/limits.ts";
import type { ByteRange } from "../../model/range.ts";

export const checksumBytes = 4;
export const { blockBytes } = limits;
/** Size of a full block with its checksum. */
export const storedBlockBytes = blockBytes + checksumBytes;

export function countBlocks(size: number): number {
  return Math.ceil(size / blockBytes);
}

/** Returns the stored size of a blob of `size` bytes, including checksums. */
export function storedSize(size: number): number {
  return size + countBlocks(size) * checksumBytes;
}

/** Returns the size of a blob without checksums: the inverse of `storedSize`. */
export function plainSize(stored: number): number {
  return Math.max(0, stored - Math.ceil(stored / storedBlockBytes) * checksumBytes);
}

/** Returns the stored range, including checksums, of the blocks that contain a range of a blob. */
export function storedRange({ offset, length }: ByteRange, size: number): ByteRange {
  if (length === 0) return { offset: 0, length: 0 };
  const first = Math.floor(offset / blockBytes);
  const end = storedSize(Math.min(size, countBlocks(offset + length) * blockBytes));
  return { offset: first * storedBlockBytes, length: end - first * storedBlockBytes };
}

/** Returns the initial value of a block's CRC-32, by the block's number. */
export function checksumSeed(name: string): (block: number) => number {
  const seed = crc32(name);
  return (index) => (seed + index) >>> 0;
}

export interface BlockEncoder {
  /** Returns views of `bytes` with checksums inserted, to be written in this order. */
  update(bytes: Uint8Array): Uint8Array[];
  /** Returns the checksum of a last, incomplete block. */
  finish(): Uint8Array[];
}

export function createBlockEncoder(name: string): BlockEncoder {
  const seed = checksumSeed(name);
  let block = 0;
  let filled = 0;
  let checksum = seed(0);

  function endBlock(): Uint8Array {
    const written = Buffer.allocUnsafe(checksumBytes);
    written.writeUInt32BE(checksum);
    checksum = seed(++block);
    filled = 0;
    return written;
  }

  return {
    update(bytes) {
      const parts: Uint8Array[] = [];
      for (let at = 0; at < bytes.length; ) {
        const part = bytes.subarray(at, at + blockBytes - filled);
        checksum = crc32(part, checksum);
        filled += part.length;
        at += part.length;
        parts.push(part);
        if (filled === blockBytes) parts.push(endBlock());
      }
      return parts;
    },
    finish: () => (filled > 0 ? [endBlock()] : []),
  };
}

export interface BlockDecoder {
  /** Receives the bytes of `storedRange` in order. Returns the verified bytes of the range. */
  update(stored: Uint8Array): Uint8Array[];
  /** Throws if bytes are missing at the end. */
  finish(): void;
}

export interface DecoderOptions {
  readonly name: string;
  /** Size of the whole blob. */
  readonly size: number;
  readonly range: ByteRange;
  /** Buffer for the bytes, as long as the range. */
  readonly into?: Uint8Array | undefined;
  /** Allocates the returned chunks if `into` is undefined. */
  readonly allocate: (bytes: number) => Uint8Array;
  /** Maximum number of blocks in a returned chunk. */
  readonly groupBlocks: number;
}

/** Copies each byte once, into a chunk that is returned after all its blocks were verified. */
export function createBlockDecoder(options: DecoderOptions): BlockDecoder {
  const { name, size, range, into, allocate, groupBlocks } = options;
  const seed = checksumSeed(name);
  const end = range.offset + range.length;
  const blockEnd = countBlocks(end);
  let block = Math.floor(range.offset / blockBytes);
  /** Number of bytes received of the current block, including its checksum. */
  let seen = 0;
  let checksum = seed(block);
  let expected = 0;
  /** The chunk to be returned next, filled up to `filled`. */
  let group: Uint8Array | undefined;
  let groupEnd = block;
  let filled = 0;
  let given = 0;

  function beginGroup(): Uint8Array {
    groupEnd = Math.min(blockEnd, block + groupBlocks);
    const length = Math.min(end, groupEnd * blockBytes) - range.offset - given;
    filled = 0;
    return into === undefined ? allocate(length) : into.subarray(given, given + length);
  }

  function takeBytes(bytes: Uint8Array): void {
    checksum = crc32(bytes, checksum);
    group ??= beginGroup();
    const start = block * blockBytes + seen;
    const inRange = bytes.subarray(Math.max(0, range.offset - start), Math.max(0, end - start));
    group.set(inRange, filled);
    filled += inRange.length;
  }

  function takeChecksum(bytes: Uint8Array): void {
    for (const byte of bytes) expected = ((expected << 8) | byte) >>> 0;
  }

  function endBlock(): Uint8Array | undefined {
    if (expected !== checksum) throw damaged(`block ${block} of blob ${name} does not match its checksum`);
    checksum = seed(++block);
    seen = 0;
    expected = 0;
    if (block < groupEnd) return undefined;
    const whole = group!;
    given += whole.length;
    group = undefined;
    return whole;
  }

  return {
    update(stored) {
      const ready: Uint8Array[] = [];
      for (let at = 0; at < stored.length; ) {
        if (block >= blockEnd) throw damaged(`blob ${name} is longer than recorded`);
        const length = Math.min(blockBytes, size - block * blockBytes);
        const due = seen < length ? length - seen : length + checksumBytes - seen;
        const part = stored.subarray(at, at + due);
        if (seen < length) takeBytes(part);
        else takeChecksum(part);
        seen += part.length;
        at += part.length;
        const whole = seen === length + checksumBytes ? endBlock() : undefined;
        if (whole !== undefined) ready.push(whole);
      }
      return ready;
    },
    finish() {
      if (block < blockEnd) throw damaged(`blob ${name} ends in block ${block}, too early`);
    },
  };
}

export function damaged(what: string): StoreError {
  return new StoreError("Damaged", { detail: `The stored data is damaged: ${what}.` });
}
