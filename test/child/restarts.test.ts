// Restarts of child processes: a failed start is retried, and an unneeded child is not started.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createRestarts } from "../../src/child/restarts.ts";

test("the restart of a child is retried with a growing delay until it succeeds", async () => {
  const restart = createRestarts([0, 20, 60], 60_000);
  const errors: string[] = [];
  const startedAt = performance.now();
  await restart({
    isNeeded: () => true,
    async start() {
      if (errors.length < 3) throw new Error(`attempt ${errors.length + 1}`);
    },
    onError: (message) => errors.push(message),
  });
  assert.deepEqual(errors, ["attempt 1", "attempt 2", "attempt 3"]);
  // The delays sum to 140 ms, but Node's timers may fire a millisecond early.
  assert.ok(performance.now() - startedAt >= 135, "the delays are 0, 20, 60 and 60 ms");
});

test("a child that is no longer needed when the delay ends is not restarted", async () => {
  const restart = createRestarts([10], 60_000);
  let starts = 0;
  let isNeeded = true;
  const done = restart({
    isNeeded: () => isNeeded,
    async start() {
      starts++;
    },
    onError: assert.fail,
  });
  isNeeded = false;
  await done;
  assert.equal(starts, 0);
});
