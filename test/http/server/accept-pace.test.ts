// Processes that share a port yield to each other while the number of open connections grows.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createAcceptPace } from "../../../src/http/server/accept-pace.ts";

function openPace() {
  const state = { yields: 0, time: 0 };
  const pace = createAcceptPace({ yieldProcessor: () => state.yields++, now: () => state.time });
  /** Returns how often the process has yielded. */
  const accept = (...open: number[]) => {
    const before = state.yields;
    for (const count of open) pace.onAccept(count);
    return state.yields - before;
  };
  return { state, accept };
}

test("every connection beyond the peak of the last second yields once", () => {
  const { state, accept } = openPace();
  assert.equal(accept(0, 1, 2, 3), 4);
  assert.equal(accept(1, 2, 3), 0, "connections that replace others");
  assert.equal(accept(4), 1);
  state.time += 1001;
  assert.equal(accept(2, 3), 2, "a new second");
});

test("requests that each use a new connection yield only once a second", () => {
  const { state, accept } = openPace();
  let yields = 0;
  for (let request = 0; request < 10_000; request++) {
    state.time += 1;
    yields += accept(0);
  }
  assert.equal(yields, 10, "in ten seconds");
});

test("a burst yields at most 64 times in a turn of the event loop", async () => {
  const { accept } = openPace();
  assert.equal(accept(...Array(100).keys()), 64);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(accept(100, 101), 2);
});
