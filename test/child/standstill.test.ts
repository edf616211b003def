// A process counts as hung if its event loop is blocked while it uses CPU time or sleeps in a
// system call. A process that is ready to run but gets no CPU time does not count as hung.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import {
  createStandstillWatch,
  maxSilentMilliseconds,
  noStandstill,
  type Standstill,
} from "../../src/child/standstill.ts";
import { mainThreadUsage, type ThreadUsage } from "../../src/child/usage.ts";

function watched(usages: readonly Partial<ThreadUsage>[]) {
  let time = 0;
  let looks = 0;
  const usageOf = async () => ({ cpuMilliseconds: 0, isSleeping: false, ...usages[looks++] });
  const watch = createStandstillWatch(1, usageOf, () => time);
  return {
    watch,
    async after(milliseconds: number): Promise<Standstill> {
      time += milliseconds;
      return watch.measure();
    },
  };
}

test("the CPU time of a process is not measured while the process sends heartbeats", async () => {
  const { after, watch } = watched([{ cpuMilliseconds: 5000 }]);
  watch.beat();
  assert.deepEqual(await after(100), { ...noStandstill, wallMilliseconds: 100 });
});

test("the CPU time of a hang is counted from the first check without a heartbeat", async () => {
  const { after } = watched([{ cpuMilliseconds: 5000 }, { cpuMilliseconds: 5300 }]);
  assert.equal((await after(300)).cpuMilliseconds, 0);
  assert.deepEqual(await after(1000), {
    wallMilliseconds: 1300,
    cpuMilliseconds: 300,
    asleepMilliseconds: 0,
    silentMilliseconds: 1300,
  });
});

test("a process that was not scheduled for a minute counts as neither busy nor asleep", async () => {
  const { after } = watched([{}, {}]);
  await after(300);
  assert.deepEqual(await after(60_000), {
    ...noStandstill,
    wallMilliseconds: 60_300,
    silentMilliseconds: 1300,
  });
});

test("a process that is silent at every check for minutes counts as blocked, whatever it does", async () => {
  const { after, watch } = watched([]);
  let silent = 0;
  for (let checks = 0; silent < maxSilentMilliseconds; checks++) {
    assert.ok(checks < 1000);
    ({ silentMilliseconds: silent } = await after(500));
  }
  watch.beat();
  assert.equal((await after(500)).silentMilliseconds, 500);
});

test("sleep time counts while every check finds the process asleep, and a heartbeat resets it", async () => {
  const { after, watch } = watched([{ isSleeping: true }, { isSleeping: true }, {}, { isSleeping: true }]);
  await after(300);
  assert.equal((await after(700)).asleepMilliseconds, 700);
  assert.equal((await after(100)).asleepMilliseconds, 0);
  await after(100);
  watch.beat();
  assert.deepEqual(await after(100), { ...noStandstill, wallMilliseconds: 100 });
});

function start(t: TestContext, code: string): Promise<number> {
  const child = spawn(process.execPath, ["-e", `console.log(1); ${code}`], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  t.after(() => child.kill("SIGKILL"));
  return once(child.stdout, "data").then(() => child.pid!);
}

test("mainThreadUsage reports CPU time for a looping process and sleep for a waiting process", async (t) => {
  const looping = await start(t, "for (;;) {}");
  const before = await mainThreadUsage(looping);
  let after = before;
  while (after!.cpuMilliseconds - before!.cpuMilliseconds < 50) after = await mainThreadUsage(looping);
  const waiting = await start(t, "setTimeout(() => {}, 60_000)");
  while ((await mainThreadUsage(waiting))?.isSleeping !== true);
  assert.equal(await mainThreadUsage(2 ** 22 + 1), undefined);
});
