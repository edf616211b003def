// Cuts a stream into pieces that are held until a service has taken them, since S3 wants a length in front and a
// request that failed must be made again. All writes of a process together hold a bounded number of bytes: how
// long pieces are is decided by how many write when the first one is filled.
import { createHash } from "node:crypto";
import type { S3Payload } from "../../../s3-client/client.ts";
import { createBlockEncoder, storedBlockBytes } from "../block-format.ts";

const MiB = 1024 * 1024;

export interface PieceRoom {
  /** The pieces of one write. */
  begin(name: string): PieceWriter;
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
  readonly mostBlocks: number;
  readonly leastBlocks: number;
  /** What all writes may hold; shared out, a piece never gets below its least. */
  readonly bytes: number;
}

export const usualPieceLimits: PieceLimits = { mostBlocks: 128, leastBlocks: 4, bytes: 128 * MiB };

/** Memory of blocks that were sent, used before any is taken anew. */
const mostSpare = 64;

export function createPieceRoom(limits: PieceLimits = usualPieceLimits): PieceRoom {
  const spare: Uint8Array[] = [];
  let active = 0;
  /** Buffers of a block each that are in use. */
  let held = 0;

  function take(): Uint8Array {
    held++;
    return spare.pop() ?? Buffer.allocUnsafeSlow(storedBlockBytes);
  }

  function giveBack(buffers: readonly Uint8Array[]): void {
    held -= buffers.length;
    spare.push(...buffers.slice(0, mostSpare - spare.length));
  }

  /** A quarter goes to pieces being filled by all who write now; who came when they were fewer has more. */
  function shareBlocks(): number {
    const share = Math.floor(limits.bytes / 4 / active / storedBlockBytes);
    return Math.max(limits.leastBlocks, Math.min(limits.mostBlocks, share));
  }

  const isFull = () => held * storedBlockBytes >= limits.bytes;

  return {
    begin: (name) => ({
      async write(chunks, send) {
        active++;
        const encoder = createBlockEncoder(name);
        let piece = createPiece(take);
        let sending: Promise<void> = Promise.resolve();
        let pieces = 0;
        let pieceBlocks = 0;
        let size = 0;

        async function endPiece(): Promise<void> {
          const filled = piece;
          await sending;
          piece = createPiece(take);
          sending = send(pieces++, filled.payload()).finally(() => giveBack(filled.buffers));
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
                await endPiece();
              }
              // All hold much: no more is taken before what is on its way has arrived.
              if (piece.isAtBlock() && isFull()) await sending;
              piece.add(part);
            }
          }
          for (const part of encoder.finish()) piece.add(part);
          await endPiece();
          await sending;
          return { size, pieceBlocks };
        } finally {
          active--;
          await sending.catch(() => {});
          giveBack(piece.buffers);
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

function createPiece(take: () => Uint8Array): Piece {
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
      if (at === 0) buffers.push(take());
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
