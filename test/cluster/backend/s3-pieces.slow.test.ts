// Memory use of many concurrent writers to an S3 service, and the sizes of their pieces.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { blockBytes, storedSize } from "../../../src/cluster/backend/block-format.ts";
import {
  createPieceBufferPool,
  defaultPieceLimits,
} from "../../../src/cluster/backend/s3/piece-buffer-pool.ts";

const MiB = 1024 * 1024;
const blobBytes = 4 * MiB;

interface Crowd {
  /** Maximum number of bytes that were read from sources and not yet stored by the service. */
  readonly mostHeld: number;
  readonly blobs: readonly {
    readonly size: number;
    readonly pieceBlocks: number;
    readonly pieces: number[];
  }[];
}

/** Runs writers against a service that stores nothing until all writers wait at peak memory use. */
async function writeAtOnce(writers: number, arrival: "together" | "one by one"): Promise<Crowd> {
  const room = createPieceBufferPool();
  const chunk = Buffer.alloc(blockBytes, 5);
  const answers: (() => void)[] = [];
  const waiting = new Set<number>();
  let held = 0;
  let mostHeld = 0;

  async function writeOne(writer: number, onSending: () => void) {
    async function* source() {
      for (let given = 0; given < blobBytes; given += chunk.length) {
        held += chunk.length;
        mostHeld = Math.max(mostHeld, held);
        yield chunk;
      }
    }
    const pieces: number[] = [];
    const written = await room
      .createWriter(randomBytes(16).toString("hex"))
      .write(source(), async (piece, body) => {
        pieces[piece] = body.length;
        waiting.add(writer);
        onSending();
        if (waiting.size < writers) await new Promise<void>((resolve) => answers.push(resolve));
        else for (const answer of answers.splice(0)) setImmediate(answer);
        held -= body.parts.reduce((sum, part) => sum + Math.min(part.length, blockBytes), 0);
      });
    return { ...written, pieces };
  }

  const writing: ReturnType<typeof writeOne>[] = [];
  for (let writer = 0; writer < writers; writer++) {
    const sending = new Promise<void>((resolve) => writing.push(writeOne(writer, resolve)));
    if (arrival === "one by one") await sending;
  }
  const blobs = await Promise.all(writing);
  assert.equal(held, 0);
  return { mostHeld, blobs };
}

test("200 concurrent writers to the S3 backend stay within the memory limit", async () => {
  const { mostHeld, blobs } = await writeAtOnce(200, "together");
  assert(mostHeld <= defaultPieceLimits.bytes, `${Math.round(mostHeld / MiB)} MiB`);
  for (const { size, pieceBlocks, pieces } of blobs) {
    assert.equal(size, blobBytes);
    assert.equal(pieces.length, Math.ceil(blobBytes / blockBytes / pieceBlocks));
    assert.equal(
      pieces.reduce((sum, piece) => sum + piece, 0),
      storedSize(blobBytes),
    );
  }
});

test("writers to the S3 backend that start one by one use at most twice the memory limit", async () => {
  const { mostHeld, blobs } = await writeAtOnce(200, "one by one");
  assert(mostHeld <= 2 * defaultPieceLimits.bytes, `${Math.round(mostHeld / MiB)} MiB`);
  assert.equal(blobs.length, 200);
});

test("a single writer to the S3 backend uses the maximum piece size, and one piece for a short blob", async () => {
  const { blobs } = await writeAtOnce(1, "together");
  assert.deepEqual(blobs, [{ size: blobBytes, pieceBlocks: 0, pieces: [storedSize(blobBytes)] }]);
});
