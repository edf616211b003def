// Lines of a child's output: whole when they are short, cut when they are long, and never in memory without a bound.
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

test("lines are put together from chunks, and the last needs no newline", async () => {
  assert.deepEqual(await linesOf("a", "b\nc", "\n\nd"), ["ab", "c", "", "d"]);
});

test("a character that is split between chunks stays whole", async () => {
  const bytes = Buffer.from("grün\n");
  assert.deepEqual(await linesOf(bytes.subarray(0, 3), bytes.subarray(3)), ["grün"]);
});

test("a long line is cut, says by how much, and the next one is whole", async () => {
  assert.deepEqual(await linesOf("0123456789abc", "def\nnext\n"), [
    "0123456789… (6 more bytes of this line are not shown)",
    "next",
  ]);
});

test("a child that writes more than is allowed in a second has to wait", async () => {
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
