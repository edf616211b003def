// The priority of a runtime that is blocked.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants, getPriority } from "node:os";
import { test } from "node:test";
import { watchRuntime } from "../../../src/script/sandbox/watch-runtime.ts";

test("a runtime that is blocked gets a low priority, and a busy one keeps its own", async (t) => {
  const child = spawn("sleep", ["1000"]);
  t.after(() => child.kill("SIGKILL"));
  await once(child, "spawn");
  const own = getPriority(child.pid);
  let cpuMilliseconds = 400;
  const watch = watchRuntime(child.pid!, {
    beat() {},
    measure: async () => ({ wallMilliseconds: 1000, cpuMilliseconds, asleepMilliseconds: 0 }),
  });
  await watch.measure();
  assert.equal(getPriority(child.pid), own);
  cpuMilliseconds = 500;
  await watch.measure();
  assert.equal(getPriority(child.pid), constants.priority.PRIORITY_LOW);
  child.kill("SIGKILL");
  await once(child, "exit");
  assert.equal((await watchRuntime(child.pid!, watch).measure()).cpuMilliseconds, 500, "an ended process");
});
