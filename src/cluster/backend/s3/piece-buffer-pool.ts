// Cuts a stream into pieces that are held until a service has taken them, since S3 wants a length in front and a
// request that failed must be made again. All writes of a process together hold a bounded number of bytes: how
// long pieces are is decided by how many write when the first one is filled.
import { createHash } from "node:crypto";
import type { S3Payload } from "../../../s3-client/client.ts";
import { createBlockEncoder, storedBlockBytes } from "../block-format.ts";

const MiB = 1024 * 1024;

export interface PieceBufferPool {
  /** The pieces of one write. */
  createWriter(name: string): PieceWriter;
}

export interface PieceWriter {
  /** Calls `send` for every piece, one under way while the next is filled; how long the blob is, and how cut. */
  write(
    chunks: AsyncIterable<Uint8Array>,
    send: (piece: number, body: S3Payload) => Promise<void>,
  ): Promise<{ readonly size: number; readonly pieceBlocks: number }>;
}

/** In whole blocks with their checksums. */
export interface PieceLimits {
  readonly maxBlocks: number;
  readonly minBlocks: number;
  /** What all writes may hold; shared out, a piece never gets below its least. */
  readonly bytes: number;
}

export const defaultPieceLimits: PieceLimits = { maxBlocks: 128, minBlocks: 4, bytes: 128 * MiB };

/** Memory of blocks that were sent, used before any is taken anew. */
const maxSpare = 64;

export function createPieceBufferPool(limits: PieceLimits = defaultPieceLimits): PieceBufferPool {
  const spare: Uint8Array[] = [];
  let active = 0;
  /** Buffers of a block each that are in use. */
  let usedBuffers = 0;

  function acquire(): Uint8Array {
    usedBuffers++;
    return spare.pop() ?? Buffer.allocUnsafeSlow(storedBlockBytes);
  }

  function release(buffers: readonly Uint8Array[]): void {
    usedBuffers -= buffers.length;
    spare.push(...buffers.slice(0, maxSpare - spare.length));
  }

  /** A quarter goes to pieces being filled by all who write now; who came when they were fewer has more. */
  function shareBlocks(): number {
    const share = Math.floor(limits.bytes / 4 / active / storedBlockBytes);
    return Math.max(limits.minBlocks, Math.min(limits.maxBlocks, share));
  }

  const isFull = () => usedBuffers * storedBlockBytes >= limits.bytes;

  return {
    createWriter: (name) => ({
      async write(chunks, send) {
        active++;
        const encoder = createBlockEncoder(name);
        let piece = createPiece(acquire);
        let sending: Promise<void> = Promise.resolve();
        let pieceCount = 0;
        let pieceBlocks = 0;
        let size = 0;

        async function sendPiece(): Promise<void> {
          const filled = piece;
          await sending;
          piece = createPiece(acquire);
          sending = send(pieceCount++, filled.payload()).finally(() => release(filled.buffers));
          // Told when it is awaited.
          sending.catch(() => {});
        }

        try {
          for await (const chunk of chunks) {
            size += chunk.length;
            for (const part of encoder.update(chunk)) {
              // Only when more comes: what ends with its first piece is not cut at all.
              if (piece.blocks >= (pieceBlocks || shareBlocks()) && piece.isAtBlock()) {
                pieceBlocks ||= piece.blocks;
                await sendPiece();
              }
              // All hold much: no more is taken before what is on its way has arrived.
              if (piece.isAtBlock() && isFull()) await sending;
              piece.add(part);
            }
          }
          for (const part of encoder.finish()) piece.add(part);
          await sendPiece();
          await sending;
          return { size, pieceBlocks };
        } finally {
          active--;
          await sending.catch(() => {});
          release(piece.buffers);
        }
      },
    }),
  };
}

interface Piece {
  readonly buffers: readonly Uint8Array[];
  /** Whole blocks in it. */
  readonly blocks: number;
  isAtBlock(): boolean;
  add(part: Uint8Array): void;
  payload(): S3Payload;
}

function createPiece(acquire: () => Uint8Array): Piece {
  const buffers: Uint8Array[] = [];
  // Block by block as it is filled: all of a long piece at once would keep everybody else waiting.
  const hash = createHash("sha256");
  let length = 0;
  return {
    buffers,
    get blocks() {
      return Math.floor(length / storedBlockBytes);
    },
    isAtBlock: () => length % storedBlockBytes === 0,
    add(part) {
      // A part never goes past the end of its block, so neither past that of a buffer.
      const at = length % storedBlockBytes;
      if (at === 0) buffers.push(acquire());
      buffers.at(-1)!.set(part, at);
      length += part.length;
      if (at + part.length === storedBlockBytes) hash.update(buffers.at(-1)!);
    },
    payload() {
      const parts = buffers.map((buffer, index) => buffer.subarray(0, length - index * storedBlockBytes));
      if (length % storedBlockBytes > 0) hash.update(parts.at(-1)!);
      return { parts, length, sha256: hash.digest("hex") };
    },
  };
}
