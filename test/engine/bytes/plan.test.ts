// Tests the ingest strategy by length, kind and load of a body. Each row changes one property.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type BodyFacts,
  firstBuffer,
  type IngestStrategy,
  planIngest,
  planRing,
} from "../../../src/engine/bytes/plan.ts";

const KiB = 1024;
const MiB = 1024 * KiB;

/** A stream of 100 KiB on an adapter that batches bodies of up to 256 KiB into segments. */
const stream: BodyFacts = {
  length: 100 * KiB,
  isWhole: false,
  inlineBytes: 4 * KiB,
  maxBatchedBytes: 256 * KiB,
  sealBytes: 0,
  part: 0,
  activeStreams: 0,
  wholeStreamBytes: 0,
  hasDirectReader: true,
};
const whole: BodyFacts = { ...stream, isWhole: true, hasDirectReader: false };

const table: readonly [title: string, facts: BodyFacts, expected: IngestStrategy][] = [
  ["an empty body is inline", { ...stream, length: 0 }, "inline"],
  ["a stream of exactly the inline limit is inline", { ...stream, length: 4 * KiB }, "inline"],
  ["a buffer of exactly the inline limit is inline", { ...whole, length: 4 * KiB }, "inline"],
  ["an encrypted small body is inline", { ...stream, length: 1, sealBytes: 32 }, "inline"],
  ["a small body among many streams is inline", { ...stream, length: 1, activeStreams: 99 }, "inline"],
  ["a small part is not inline", { ...stream, length: 1, inlineBytes: -1, part: 1 }, "ring"],
  ["an empty part is not inline", { ...stream, length: 0, inlineBytes: -1, part: 1 }, "ring"],
  ["a body one byte above the inline limit is batched", { ...stream, length: 4 * KiB + 1 }, "batched"],
  ["a medium-sized buffer is batched", whole, "batched"],
  ["a body of exactly the batch limit is batched", { ...stream, length: 256 * KiB }, "batched"],
  ["a body one byte above the batch limit is not batched", { ...stream, length: 256 * KiB + 1 }, "ring"],
  ["a body on an adapter that does not batch uses a ring", { ...stream, maxBatchedBytes: undefined }, "ring"],
  ["an encrypted medium-sized body is batched", { ...stream, sealBytes: 48 }, "batched"],
  [
    "an encrypted body above the batch limit is not batched",
    { ...stream, length: 256 * KiB, sealBytes: 80 },
    "ring",
  ],
  ["a part is not batched", { ...stream, inlineBytes: -1, part: 3 }, "ring"],
  ["a medium-sized body among many streams is batched", { ...stream, activeStreams: 99 }, "batched"],
  [
    "a stream that fills the memory for whole streams is batched",
    { ...stream, wholeStreamBytes: 16 * MiB - 100 * KiB },
    "batched",
  ],
  [
    "a stream above the memory for whole streams is not batched",
    { ...stream, wholeStreamBytes: 16 * MiB },
    "ring",
  ],
  [
    "a buffer is batched even if the memory for whole streams is full",
    { ...whole, wholeStreamBytes: 16 * MiB },
    "batched",
  ],
  ["a large stream with a direct reader is zero-copy", { ...stream, length: 512 * KiB }, "zero-copy"],
  ["a stream just below 512 KiB is not zero-copy", { ...stream, length: 512 * KiB - 1 }, "ring"],
  ["a stream of unknown length is zero-copy", { ...stream, length: undefined }, "zero-copy"],
  [
    "a stream of unknown length without a direct reader uses a ring",
    { ...stream, length: undefined, hasDirectReader: false },
    "ring",
  ],
  ["an encrypted large stream is zero-copy", { ...stream, length: MiB, sealBytes: 272 }, "zero-copy"],
  ["a large part is zero-copy", { ...stream, length: MiB, inlineBytes: -1, part: 1 }, "zero-copy"],
  ["a large buffer uses a ring", { ...whole, length: MiB }, "ring"],
  [
    "the 32nd concurrent stream still has its own ring",
    { ...stream, length: MiB, activeStreams: 31 },
    "zero-copy",
  ],
  ["the 33rd concurrent stream uses pooled buffers", { ...stream, length: MiB, activeStreams: 32 }, "pooled"],
  [
    "a stream of unknown length among many streams uses pooled buffers",
    { ...stream, length: undefined, activeStreams: 32 },
    "pooled",
  ],
  [
    "a large buffer among many streams uses pooled buffers",
    { ...whole, length: MiB, activeStreams: 32 },
    "pooled",
  ],
];

test("the ingest strategy of a body depends on its length, its kind and the load", async (t) => {
  for (const [title, facts, expected] of table) {
    await t.test(title, () => assert.equal(planIngest(facts), expected));
  }
});

test("ring buffers have 2 MiB for up to four streams and 256 KiB for more, and never exceed the body", () => {
  assert.deepEqual(planRing(MiB, 4), { size: 2 * MiB, memory: "shared", buffers: 4 });
  assert.deepEqual(planRing(undefined, 5), { size: 256 * KiB, memory: "shared", buffers: 4 });
  const rest = 100 * KiB - firstBuffer.size;
  assert.deepEqual(planRing(100 * KiB, 1), { size: rest, memory: "own", buffers: 2 });
  assert.deepEqual(planRing(1, 1), { size: 1, memory: "own", buffers: 2 });
});
