// Reads ranges of a blob in whole, verified blocks, so damaged bytes are never returned.
import { Buffer } from "node:buffer";
import { read } from "node:fs";
import { promisify } from "node:util";
import { crc32 } from "@node-rs/crc32";
import type { ByteRange } from "../../model/range.ts";
import { readError } from "../disk/errors.ts";
import { damagedError } from "../rows/checksum.ts";
import { checksumBytes } from "./block-writer.ts";

const readFile = promisify(read);

/** Blocks per read while few bodies are being read. With many bodies, a read has one block. */
const largeChunkBlocks = 8;

/** A blob in an open file. */
export interface BlockFile {
  readonly descriptor: number;
  /** The offset of the blob in the file. */
  readonly start: number;
  /** Size of the blob without checksums. */
  readonly size: number;
  /** Size of a block; each block has a checksum. */
  readonly blockBytes: number;
  /** Name of the blob in error messages. */
  readonly name: string;
  /** The initial value of a block's CRC. */
  readonly seed: (block: number) => number;
  /** Released buffers for reuse: allocating new memory costs as much as reading the bytes. */
  readonly spare: Uint8Array[];
}

const maxSpare = 4;

/** Keeps the buffer of a released chunk for reuse. */
export function keepSpare(spare: Uint8Array[], { buffer }: Uint8Array, blockBytes: number): void {
  if (buffer.byteLength === chunkBytes(blockBytes) && spare.length < maxSpare)
    spare.push(new Uint8Array(buffer));
}

/** Yields the verified bytes of the range. Whole blocks of a large blob are read into `into`. */
export function readBlockFile(
  file: BlockFile,
  range: ByteRange,
  into?: Uint8Array,
): AsyncGenerator<Uint8Array> {
  const isSmall = file.size + blockCount(file) * checksumBytes <= largeChunkBlocks * file.blockBytes;
  return isSmall ? readSmallFile(file, range) : readLargeFile(file, range, into);
}

/** Reads all bytes and checksums of a small blob with one call. */
async function* readSmallFile(file: BlockFile, range: ByteRange): AsyncGenerator<Uint8Array> {
  const { blockBytes: block } = file;
  const offset = range.offset - (range.offset % block);
  const end = Math.min(file.size, range.offset + range.length);
  const length = file.size - offset + blockCount(file) * checksumBytes;
  const bytes = await readExactly(file, offset, Buffer.allocUnsafeSlow(length));
  const table = new DataView(bytes.buffer, bytes.byteOffset + file.size - offset);
  for (let at = offset; at < end; at += block) {
    const expected = table.getUint32((at / block) * checksumBytes);
    checkBlock(
      file,
      bytes.subarray(at - offset, Math.min(at + block, file.size) - offset),
      at / block,
      expected,
    );
  }
  yield bytes.subarray(range.offset - offset, end - offset);
}

/** Number of bodies being read, counted in open-blob.ts. It limits the memory of all readers. */
export const readers = { active: 0 };

function chunkBytes(blockBytes: number): number {
  return readers.active <= 32 ? largeChunkBlocks * blockBytes : blockBytes;
}

/** Concurrent reads per body: two while few bodies are being read, otherwise one to save memory. */
function readConcurrency(): number {
  return readers.active <= 8 ? 2 : 1;
}

/** Whether to read chunks ahead. With many readers, these chunks would use too much memory. */
function readsAhead(): boolean {
  return readers.active <= 64;
}

/** Reads the next chunks while one chunk is in use, unless there are many readers. */
async function* readLargeFile(
  file: BlockFile,
  range: ByteRange,
  into: Uint8Array | undefined,
): AsyncGenerator<Uint8Array> {
  const { blockBytes: block } = file;
  const end = Math.min(file.size, range.offset + range.length);
  const checksums = createChecksumTable(file);
  let position = range.offset - (range.offset % block);
  let next = position;
  const pendingReads: Promise<Uint8Array>[] = [];
  /** Returns a part of `into`, or another buffer if the blocks extend beyond the range. */
  const takeBuffer = (offset: number, length: number) => {
    const start = offset - range.offset;
    const isWithin = into !== undefined && start >= 0 && start + length <= into.length;
    if (isWithin) return into.subarray(start, start + length);
    // Drop a spare buffer of another length: the chunk size depends on the number of readers.
    const spare = length === chunkBytes(block) ? file.spare.pop() : undefined;
    return spare?.length === length ? spare : Buffer.allocUnsafeSlow(length);
  };
  const readAhead = () => {
    while (pendingReads.length < readConcurrency() && next < end) {
      const length = Math.min(chunkBytes(block), Math.ceil(end / block) * block - next, file.size - next);
      const chunk = readVerified(file, checksums, next, takeBuffer(next, length));
      // The promise is awaited below, where a failure is thrown.
      chunk.catch(() => {});
      pendingReads.push(chunk);
      next += length;
    }
  };
  try {
    for (readAhead(); pendingReads.length > 0; readAhead()) {
      const bytes = await pendingReads.shift()!;
      if (readsAhead()) readAhead();
      const first = Math.max(0, range.offset - position);
      const last = Math.min(bytes.length, end - position);
      position += bytes.length;
      yield first === 0 && last === bytes.length ? bytes : bytes.subarray(first, last);
    }
  } finally {
    // The caller may close the descriptor next, so no read may be in flight.
    await Promise.allSettled(pendingReads);
  }
}

function blockCount({ size, blockBytes }: BlockFile): number {
  return Math.ceil(size / blockBytes);
}

async function readVerified(
  file: BlockFile,
  table: ChecksumTable,
  offset: number,
  bytes: Uint8Array,
): Promise<Uint8Array> {
  const { blockBytes: block } = file;
  await readExactly(file, offset, bytes);
  for (let at = 0; at < bytes.length; at += block) {
    const index = (offset + at) / block;
    const checksum = table.get(index);
    checkBlock(
      file,
      bytes.subarray(at, at + block),
      index,
      typeof checksum === "number" ? checksum : await checksum,
    );
  }
  return bytes;
}

function checkBlock({ name, seed }: BlockFile, bytes: Uint8Array, index: number, expected: number): void {
  if (crc32(bytes, seed(index)) !== expected) throw damagedError(`block ${index} of ${name}`);
}

async function readExactly(
  { descriptor, start, name }: BlockFile,
  offset: number,
  bytes: Uint8Array,
): Promise<Uint8Array> {
  const { length } = bytes;
  try {
    for (let done = 0; done < length; ) {
      const { bytesRead } = await readFile(descriptor, bytes, done, length - done, start + offset + done);
      if (bytesRead === 0) throw damagedError(`the end of ${name}`);
      done += bytesRead;
    }
  } catch (error) {
    throw readError(error);
  }
  return bytes;
}

interface ChecksumTable {
  get(index: number): number | Promise<number>;
}

/** Reads the checksums stored after the bytes, in sections, as the blocks are read. */
function createChecksumTable(file: BlockFile): ChecksumTable {
  const sectionBlocks = 4096;
  let first = -1;
  let loading: Promise<DataView> | undefined;
  let section: DataView | undefined;

  function load(from: number): Promise<DataView> {
    const length = Math.min(sectionBlocks, blockCount(file) - from) * checksumBytes;
    first = from;
    section = undefined;
    const buffer = Buffer.allocUnsafeSlow(length);
    loading = readExactly(file, file.size + from * checksumBytes, buffer).then((bytes) => {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      if (first === from) section = view;
      return view;
    });
    return loading;
  }

  return {
    get(index) {
      const from = index - (index % sectionBlocks);
      const at = (index - from) * checksumBytes;
      if (first === from && section !== undefined) return section.getUint32(at);
      const loadingSection = first === from ? loading! : load(from);
      return loadingSection.then((view) => view.getUint32(at));
    },
  };
}
