// Allocates the chunks of reads: long chunks for few readers, short chunks for many. Released
// chunks are reused, because allocating memory costs as much as reading the bytes.
import { Buffer } from "node:buffer";
import { blockBytes } from "./block-format.ts";

const longChunkBlocks = 8;
const fewReaders = 32;
const maxSpare = 8;

export interface ChunkPool {
  /** Counts an active read. Call the returned function when the read ends. */
  beginRead(): () => void;
  groupBlocks(): number;
  /** Whether a reader may request the next piece early. */
  allowsReadAhead(): boolean;
  allocate(bytes: number): Uint8Array;
  /** Returns whether the memory is kept for reuse. */
  release(chunk: Uint8Array): boolean;
}

export function createChunkPool(): ChunkPool {
  const spare: Uint8Array[] = [];
  let readers = 0;
  return {
    beginRead() {
      readers++;
      return () => {
        readers--;
      };
    },
    groupBlocks: () => (readers <= fewReaders ? longChunkBlocks : 1),
    allowsReadAhead: () => readers <= 2 * fewReaders,
    allocate: (bytes) =>
      (bytes === longChunkBlocks * blockBytes ? spare.pop() : undefined) ?? Buffer.allocUnsafeSlow(bytes),
    release({ buffer, byteLength }) {
      const isOurs = byteLength === longChunkBlocks * blockBytes && buffer.byteLength === byteLength;
      if (!isOurs || !(buffer instanceof ArrayBuffer) || spare.length >= maxSpare) return false;
      spare.push(Buffer.from(buffer));
      return true;
    },
  };
}
