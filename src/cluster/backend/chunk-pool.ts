// The memory that chunks are given out in. Few readers get long chunks, a crowd short ones, so that together they
// stay within bounded memory; what receivers give back is used again, since fresh pages cost as much as the bytes.
import { blockBytes } from "./block-format.ts";

const longBlocks = 8;
const few = 32;
const mostSpare = 8;

export interface ChunkRoom {
  /** A read begins, and says when it ends. */
  enter(): () => void;
  groupBlocks(): number;
  /** Whether what comes next may be asked for before it is wanted. */
  readsAhead(): boolean;
  allocate(bytes: number): Uint8Array;
  release(chunk: Uint8Array): void;
}

export function createChunkRoom(): ChunkRoom {
  const spare: Uint8Array[] = [];
  let readers = 0;
  return {
    enter() {
      readers++;
      return () => {
        readers--;
      };
    },
    groupBlocks: () => (readers <= few ? longBlocks : 1),
    readsAhead: () => readers <= 2 * few,
    allocate: (bytes) =>
      (bytes === longBlocks * blockBytes ? spare.pop() : undefined) ?? Buffer.allocUnsafeSlow(bytes),
    release({ buffer, byteLength }) {
      const isOurs = byteLength === longBlocks * blockBytes && buffer.byteLength === byteLength;
      if (isOurs && buffer instanceof ArrayBuffer && spare.length < mostSpare)
        spare.push(Buffer.from(buffer));
    },
  };
}
