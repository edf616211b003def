// The memory that chunks are given out in. Few readers get long chunks, a crowd short ones, so that together they
// stay within bounded memory; what receivers give back is used again, since fresh pages cost as much as the bytes.
import { blockBytes } from "./block-format.ts";

const longChunkBlocks = 8;
const fewReaders = 32;
const maxSpare = 8;

export interface ChunkPool {
  /** A read begins, and says when it ends. */
  beginRead(): () => void;
  groupBlocks(): number;
  /** Whether what comes next may be asked for before it is wanted. */
  allowsReadAhead(): boolean;
  allocate(bytes: number): Uint8Array;
  release(chunk: Uint8Array): void;
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
      if (isOurs && buffer instanceof ArrayBuffer && spare.length < maxSpare) spare.push(Buffer.from(buffer));
    },
  };
}
