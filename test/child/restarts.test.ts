// Restarts of children: another attempt after a failed start, and none once no replacement is needed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createRestarts } from "../../src/child/restarts.ts";

test("a restart is tried again until the child starts, with a growing delay", async () => {
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
  // Timers of Node may fire a millisecond early.
  assert.ok(performance.now() - startedAt >= 135, "the delays are 0, 20, 60 and 60 ms");
});

test("a child that is not needed any more after the delay is not started", async () => {
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
