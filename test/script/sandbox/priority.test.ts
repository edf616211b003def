// The priority of processes whose scripts are busy or block them.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants as access, accessSync, readFileSync } from "node:fs";
import { constants, getPriority } from "node:os";
import { type TestContext, test } from "node:test";
import { lowerPriority, watchBusyRuntime } from "../../../src/script/sandbox/priority.ts";

async function startProcess(t: TestContext): Promise<number> {
  const child = spawn(process.execPath, ["-e", "process.stdout.write('up'); setInterval(() => {}, 1000)"], {
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  t.after(() => child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child.pid!;
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, access.W_OK);
    return true;
  } catch {
    return false;
  }
}

test("a process and its session get the lowest priority", async (t) => {
  const pid = await startProcess(t);
  await lowerPriority(pid);
  assert.equal(getPriority(pid), constants.priority.PRIORITY_LOW);
  const group = `/proc/${pid}/autogroup`;
  if (isWritable(group)) assert.match(readFileSync(group, "utf8"), /nice 19$/m);
});

test("lowering the priority of a process that has ended does nothing", async (t) => {
  const pid = await startProcess(t);
  process.kill(pid, "SIGKILL");
  await assert.doesNotReject(lowerPriority(pid));
});

test("a runtime has a lower priority while it uses most of a processor", async () => {
  const set: number[] = [];
  const [cpu, time] = [{ milliseconds: 0 }, { milliseconds: 0 }];
  const check = watchBusyRuntime(1, {
    readUsage: async () => ({ cpuMilliseconds: cpu.milliseconds, isSleeping: false }),
    setPriority: async (_, priority) => set.push(priority) > 0,
    now: () => time.milliseconds,
  });
  const use = async (share: number) => {
    time.milliseconds += 250;
    cpu.milliseconds += 250 * share;
    await check();
  };
  for (const share of [1, 0.5, 0.9, 0.9, 0.4, 0.2, 0.2]) await use(share);
  assert.deepEqual(set, [constants.priority.PRIORITY_BELOW_NORMAL, constants.priority.PRIORITY_NORMAL]);
});

test("a refused change of the priority is tried again", async () => {
  let tries = 0;
  let cpuMilliseconds = 0;
  const check = watchBusyRuntime(1, {
    readUsage: async () => ({ cpuMilliseconds, isSleeping: false }),
    setPriority: async () => ++tries === 2,
    now: () => cpuMilliseconds,
  });
  for (let i = 0; i < 5; i++) {
    cpuMilliseconds += 250;
    await check();
  }
  assert.equal(tries, 2);
});
