// Memory for the chunks of reads. Few readers get long chunks, many readers short ones. Released
// chunks are reused: fresh memory pages cost as much as the bytes themselves.
import { blockBytes } from "./block-format.ts";

const longChunkBlocks = 8;
const fewReaders = 32;
const maxSpare = 8;

export interface ChunkPool {
  /** Counts a read; the returned function ends it. */
  beginRead(): () => void;
  groupBlocks(): number;
  /** Whether a reader may request the next piece before it needs it. */
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
