// Splits a stream into pieces and buffers each until it is stored: S3 needs the length first, and a
// retry needs the bytes. To limit memory, pieces are shorter while there are many writes.
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { S3Payload } from "../../../s3-client/client.ts";
import { createBlockEncoder, storedBlockBytes } from "../block-format.ts";

const MiB = 1024 * 1024;

export interface PieceBufferPool {
  createWriter(name: string): PieceWriter;
}

export interface PieceWriter {
  /** Calls `send` for every piece. The next piece is filled while a piece is being sent. */
  write(
    chunks: AsyncIterable<Uint8Array>,
    send: (piece: number, body: S3Payload) => Promise<void>,
  ): Promise<{ readonly size: number; readonly pieceBlocks: number }>;
}

/** Limits of pieces. Block sizes include checksums. */
export interface PieceLimits {
  readonly maxBlocks: number;
  readonly minBlocks: number;
  /** Memory limit of all writes. Each write gets a share, at least `minBlocks` per piece. */
  readonly bytes: number;
}

export const defaultPieceLimits: PieceLimits = { maxBlocks: 128, minBlocks: 4, bytes: 128 * MiB };

/** Maximum number of block buffers kept for reuse. */
const maxSpare = 64;

export function createPieceBufferPool(limits: PieceLimits = defaultPieceLimits): PieceBufferPool {
  const spare: Uint8Array[] = [];
  let active = 0;
  /** Number of block buffers in use. */
  let usedBuffers = 0;

  function acquire(): Uint8Array {
    usedBuffers++;
    return spare.pop() ?? Buffer.allocUnsafeSlow(storedBlockBytes);
  }

  function release(buffers: readonly Uint8Array[]): void {
    usedBuffers -= buffers.length;
    spare.push(...buffers.slice(0, maxSpare - spare.length));
  }

  /** Returns the maximum blocks of a piece: each write's share of a quarter of the memory. */
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
          // The error is thrown where `sending` is awaited.
          sending.catch(() => {});
        }

        try {
          for await (const chunk of chunks) {
            size += chunk.length;
            for (const part of encoder.update(chunk)) {
              // Start another piece only if more bytes follow, so that a blob that fits one piece
              // is one object.
              if (piece.blocks >= (pieceBlocks || shareBlocks()) && piece.isAtBlock()) {
                pieceBlocks ||= piece.blocks;
                await sendPiece();
              }
              // The memory is used up: wait for the piece in flight before reading more bytes.
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
  /** Number of full blocks in this piece. */
  readonly blocks: number;
  isAtBlock(): boolean;
  add(part: Uint8Array): void;
  payload(): S3Payload;
}

function createPiece(acquire: () => Uint8Array): Piece {
  const buffers: Uint8Array[] = [];
  // Updated block by block: hashing a long piece in one call would block the event loop.
  const hash = createHash("sha256");
  let length = 0;
  return {
    buffers,
    get blocks() {
      return Math.floor(length / storedBlockBytes);
    },
    isAtBlock: () => length % storedBlockBytes === 0,
    add(part) {
      // A chunk never extends beyond the end of its block, so it fits the buffer.
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
