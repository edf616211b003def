// Segments stay open between reads, and every descriptor is closed in the end.
import assert from "node:assert/strict";
import { closeSync, fstatSync, openSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { createSegmentFiles, type OpenSegment } from "../../../src/local/bytes/segment-files.ts";
import { mockTimeouts } from "../../support/mock-timeouts.ts";

function scene(t: TestContext) {
  const timeouts = mockTimeouts(t);
  const files = createSegmentFiles();
  const opened: number[] = [];
  // The system gives a closed number to the next file.
  const openNow = () => [...new Set(opened)].filter(isOpen);
  t.after(() => {
    for (const descriptor of openNow()) closeSync(descriptor);
  });
  async function acquire(name: string): Promise<OpenSegment> {
    const found = await files.acquire(name, async () => {
      const descriptor = openSync(process.execPath, "r");
      opened.push(descriptor);
      return descriptor;
    });
    return found!;
  }
  return { files, timeouts, acquire, opened, openCount: () => openNow().length };
}

function isOpen(descriptor: number): boolean {
  try {
    fstatSync(descriptor);
    return true;
  } catch {
    return false;
  }
}

test("a segment is opened once for readers that follow each other, and closed after a second", async (t) => {
  const { timeouts, acquire, opened, openCount } = scene(t);
  for (let reader = 0; reader < 3; reader++) (await acquire("a")).release();
  assert.equal(opened.length, 1);
  assert.equal(openCount(), 1);
  timeouts.tick(1000);
  assert.equal(openCount(), 0);
  (await acquire("a")).release();
  assert.equal(opened.length, 2);
});

test("a dropped segment is closed when its last reader is done", async (t) => {
  const { files, acquire, openCount } = scene(t);
  const readers = [await acquire("a"), await acquire("a")];
  files.drop("a");
  readers[0]!.release();
  assert.equal(openCount(), 1);
  readers[1]!.release();
  assert.equal(openCount(), 0);
});

test("two readers that open a segment at the same time leave one descriptor open", async (t) => {
  const { files, acquire, opened, openCount } = scene(t);
  const readers = await Promise.all([acquire("a"), acquire("a")]);
  assert.equal(opened.length, 2);
  for (const reader of readers) reader.release();
  assert.equal(openCount(), 1);
  files.close();
  assert.equal(openCount(), 0);
});

test("at most 64 segments stay open, and none after the store is closed", async (t) => {
  const { files, acquire, openCount } = scene(t);
  for (let index = 0; index < 100; index++) (await acquire(`segment ${index}`)).release();
  assert.equal(openCount(), 64);
  files.close();
  assert.equal(openCount(), 0);
  (await acquire("late")).release();
  assert.equal(openCount(), 0);
});

test("a missing segment is not remembered", async (t) => {
  const { files, acquire } = scene(t);
  assert.equal(await files.acquire("a", async () => undefined), undefined);
  (await acquire("a")).release();
});
