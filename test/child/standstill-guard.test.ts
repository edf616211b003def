import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { createStandstillWatch } from "../../src/child/standstill.ts";
import { guardStandstill } from "../../src/child/standstill-guard.ts";

test("a child in an endless loop is killed after the limit of processor time", async () => {
  const child = spawn(process.execPath, ["-e", "for (;;) {}"], { stdio: "ignore" });
  const ended = once(child, "exit").then(([code, signal]) => String(signal ?? code));
  let reports = 0;
  guardStandstill(
    { standstill: createStandstillWatch(child.pid), kill: () => child.kill("SIGKILL"), ended },
    { cpuMilliseconds: 100, asleepMilliseconds: 60_000 },
    () => reports++,
  );
  assert.equal(await ended, "SIGKILL");
  assert.equal(reports, 1);
});

test("a child that sends heartbeats is not killed", async () => {
  const child = spawn(process.execPath, ["-e", "for (;;) {}"], { stdio: "ignore" });
  const ended = once(child, "exit").then(([code, signal]) => String(signal ?? code));
  const standstill = createStandstillWatch(child.pid);
  let beats = 0;
  const beating = {
    ...standstill,
    measure() {
      standstill.beat();
      if (++beats === 4) child.kill("SIGTERM");
      return standstill.measure();
    },
  };
  guardStandstill(
    { standstill: beating, kill: () => child.kill("SIGKILL"), ended },
    { cpuMilliseconds: 100, asleepMilliseconds: 60_000 },
    () => assert.fail("The child is not blocked."),
  );
  assert.equal(await ended, "SIGTERM");
});
