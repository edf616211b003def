// Tests of forEachLimit: its concurrency limit, and how it ends after a failure or an abort.
import assert from "node:assert/strict";
import { test } from "node:test";
import { forEachLimit } from "../../src/async/for-each-limit.ts";

const items = Array.from({ length: 20 }, (_, i) => i);
const pause = () => new Promise((resolve) => setImmediate(resolve));

test("forEachLimit processes every item once and never exceeds its concurrency limit", async () => {
  const done: number[] = [];
  let active = 0;
  await forEachLimit(items, { concurrency: 3 }, async (item) => {
    assert.ok(++active <= 3);
    await pause();
    active--;
    done.push(item);
  });
  assert.deepEqual(
    done.sort((a, b) => a - b),
    items,
  );
});

test("after a failure forEachLimit starts no more items and throws the error when all work has ended", async () => {
  let active = 0;
  let taken = 0;
  const failing = forEachLimit(items, { concurrency: 2 }, async (item) => {
    taken++;
    active++;
    await pause();
    active--;
    if (item === 4) throw new Error("the fifth item failed");
  });
  await assert.rejects(failing, /the fifth item failed/);
  assert.equal(active, 0);
  assert.ok(taken < items.length);
});

test("forEachLimit throws the reason of an aborted signal", async () => {
  const controller = new AbortController();
  const seen: number[] = [];
  const aborted = forEachLimit(items, { concurrency: 1, signal: controller.signal }, async (item) => {
    seen.push(item);
    if (item === 2) controller.abort(new Error("stopped by the user"));
  });
  await assert.rejects(aborted, /stopped by the user/);
  assert.deepEqual(seen, [0, 1, 2]);
});
