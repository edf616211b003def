// Writes, syncs and reads the file of one blob in a shared directory; reads are verified.
import { Buffer } from "node:buffer";
import type { FileHandle } from "node:fs/promises";
import type { ByteRange } from "../../../model/range.ts";
import type { BackendBlob } from "../backend.ts";
import {
  createBlockDecoder,
  createBlockEncoder,
  damaged,
  storedBlockBytes,
  storedRange,
  storedSize,
} from "../block-format.ts";
import type { ChunkPool } from "../chunk-pool.ts";

/** A long body is synced each time this many bytes were written, so that its last sync is short. */
const syncEvery = 8 * 1024 * 1024;

/** Writes, syncs and closes the file, reading the next chunk meanwhile. Returns the body's size. */
export async function writeBlocks(
  file: FileHandle,
  name: string,
  chunks: AsyncIterable<Uint8Array>,
): Promise<number> {
  const encoder = createBlockEncoder(name);
  let writing: Promise<void> = Promise.resolve();
  let size = 0;
  let position = 0;
  let unsynced = 0;
  const write = async (parts: readonly Uint8Array[]) => {
    const length = await writeAll(file, parts, position);
    position += length;
    unsynced += length;
    if (unsynced < syncEvery) return;
    unsynced = 0;
    await file.datasync();
  };
  try {
    for await (const chunk of chunks) {
      size += chunk.length;
      const parts = encoder.update(chunk);
      await writing;
      writing = write(parts);
      // The error is thrown where `writing` is awaited.
      writing.catch(() => {});
    }
    await writing;
    await write(encoder.finish());
    await file.datasync();
    return size;
  } finally {
    // The descriptor must not be closed while a write is in flight.
    await writing.catch(() => {});
    await file.close();
  }
}

async function writeAll(file: FileHandle, parts: readonly Uint8Array[], position: number): Promise<number> {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  let left = parts;
  for (let done = 0; done < length; ) {
    const { bytesWritten } = await file.writev([...left], position + done);
    done += bytesWritten;
    left = skipBytes(left, bytesWritten);
  }
  return length;
}

/** Returns the parts without their first `bytes` bytes. */
function skipBytes(parts: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let skipped = 0;
  let index = 0;
  while (index < parts.length && skipped + parts[index]!.length <= bytes) skipped += parts[index++]!.length;
  const rest = parts.slice(index);
  if (rest.length > 0) rest[0] = rest[0]!.subarray(bytes - skipped);
  return rest;
}

/** Reads the next blocks while the consumer handles the current ones. */
export async function* readBlocks(
  file: FileHandle,
  { name, size }: BackendBlob,
  { range, into, chunkPool }: { range: ByteRange; into: Uint8Array | undefined; chunkPool: ChunkPool },
): AsyncGenerator<Uint8Array> {
  const { size: stored } = await file.stat();
  const expected = storedSize(size);
  if (stored !== expected) throw damaged(`blob ${name} is ${stored} bytes long, not ${expected}`);
  const groupBlocks = chunkPool.groupBlocks();
  const decoder = createBlockDecoder({ name, size, range, into, groupBlocks, allocate: chunkPool.allocate });
  const { offset, length } = storedRange(range, size);
  const step = groupBlocks * storedBlockBytes;
  const allocateBuffer = (): Buffer => Buffer.allocUnsafeSlow(Math.min(step, length));
  let current = allocateBuffer();
  let other: Buffer | undefined;
  const readAt = (at: number, into: Buffer) => {
    const reading = readFully(file, into.subarray(0, offset + length - at), at, name);
    // The error is thrown where `reading` is awaited.
    reading.catch(() => {});
    return reading;
  };
  let reading = readAt(offset, current);
  try {
    for (let at = offset; at < offset + length; at += step) {
      const bytes = await reading;
      const next = at + step;
      // Two buffers alternate: the decoder copies the bytes before a buffer is used again.
      if (next < offset + length) {
        const free = other ?? allocateBuffer();
        other = current;
        current = free;
        reading = readAt(next, current);
      }
      yield* decoder.update(bytes);
    }
    decoder.finish();
  } finally {
    // The caller closes the descriptor next, so wait for the read in flight.
    await reading.catch(() => {});
  }
}

async function readFully(file: FileHandle, bytes: Buffer, position: number, name: string): Promise<Buffer> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, position + done);
    if (bytesRead === 0) throw damaged(`blob ${name} ends too early`);
    done += bytesRead;
  }
  return bytes;
}
