// Lines of a child's console output: long lines are truncated, and memory and rate are limited.
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { test } from "node:test";
import { forEachLine } from "../../src/child/output.ts";

const limits = { lineBytes: 10, bytesPerSecond: 1_000_000 };

async function linesOf(...chunks: (string | Buffer)[]): Promise<string[]> {
  const stream = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  const lines: string[] = [];
  forEachLine(stream, (line) => lines.push(line), limits);
  await finished(stream);
  return lines;
}

test("lines of a child's output are joined from chunks, and the last line needs no newline", async () => {
  assert.deepEqual(await linesOf("a", "b\nc", "\n\nd"), ["ab", "c", "", "d"]);
});

test("a UTF-8 character split between two chunks of output is decoded correctly", async () => {
  const bytes = Buffer.from("grün\n");
  assert.deepEqual(await linesOf(bytes.subarray(0, 3), bytes.subarray(3)), ["grün"]);
});

test("a long line of output is truncated with a note of the missing bytes, and the next line is complete", async () => {
  assert.deepEqual(await linesOf("0123456789abc", "def\nnext\n"), [
    "0123456789… (6 more bytes of this line are not shown)",
    "next",
  ]);
});

test("the output of a child that exceeds the limit per second is read later, so the child has to wait", async () => {
  let given = 0;
  const stream = new Readable({
    read() {
      given += 100_000;
      this.push(Buffer.alloc(100_000, "x"));
    },
  });
  forEachLine(stream, () => {}, limits);
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.ok(given < 2_000_000, `${given} bytes were read`);
  stream.destroy();
});

test("output with short bursts is read little by little, at the same rate", async () => {
  const reads: number[] = [];
  const stream = new Readable({
    highWaterMark: 1000,
    read() {
      this.push(Buffer.alloc(1000, "x"));
    },
  });
  stream.on("data", () => reads.push(performance.now()));
  forEachLine(stream, () => {}, { lineBytes: 10, bytesPerSecond: 1_000_000, burstMilliseconds: 10 });
  const start = performance.now();
  while (reads.length < 100) await new Promise((resolve) => setTimeout(resolve, 5));
  stream.destroy();
  const early = reads.filter((time) => time - start < 5).length;
  assert.ok(early <= 11, `${early} chunks of 1000 bytes at once`);
  assert.ok(reads[99]! - start >= 80, "100 kB at 1 MB per second");
});
