// Which scripts sleep, and how a sleeping script is started.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  createAwakeScripts,
  createWaking,
} from "../../../../src/script/supervisor/processes/awake-scripts.ts";

function scripts(names: readonly string[], slept: string[], inUse = new Set<string>()) {
  return names.map((name) => ({
    name,
    sleep() {
      if (inUse.has(name)) return false;
      slept.push(name);
      return true;
    },
  }));
}

test("of more scripts than the maximum, the least recently used sleeps", () => {
  const slept: string[] = [];
  const [a, b, c, d] = scripts(["a", "b", "c", "d"], slept);
  const awake = createAwakeScripts(2);
  for (const script of [a!, b!, a!]) awake.use(script);
  assert.deepEqual(slept, []);
  awake.use(c!);
  assert.deepEqual(slept, ["b"]);
  awake.use(d!);
  assert.deepEqual(slept, ["b", "a"]);
});

test("a script in use does not sleep; more scripts than the maximum run until one is free", () => {
  const slept: string[] = [];
  const inUse = new Set(["a", "b"]);
  const [a, b, c] = scripts(["a", "b", "c"], slept, inUse);
  const awake = createAwakeScripts(1);
  for (const script of [a!, b!, c!]) awake.use(script);
  assert.deepEqual(slept, []);
  inUse.clear();
  awake.use(c!);
  assert.deepEqual(slept, ["a", "b"]);
});

test("a script is started once for concurrent requests, and not again soon after a failure", async () => {
  let starts = 0;
  const good = createWaking(async () => {
    starts++;
  });
  await Promise.all([good.wake(), good.wake()]);
  assert.equal(starts, 1);
  await good.wake();
  assert.equal(starts, 2);
  let failures = 0;
  const broken = createWaking(async () => {
    failures++;
    throw new Error("broken");
  });
  for (let attempt = 0; attempt < 3; attempt++) await assert.rejects(broken.wake(), /broken/);
  assert.equal(failures, 1);
  assert.equal(broken.isWaking(), false);
});
