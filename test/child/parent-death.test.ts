import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("./blocked-process.js", import.meta.url));

/** An ended process may stay as a zombie until another process asks for its exit code. */
function isRunning(pid: number): boolean {
  try {
    if (process.platform === "linux")
      return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

for (const watch of ["signal", "thread"] as const) {
  test(`a child with a blocked event loop ends when its parent is killed (${watch})`, async (t) => {
    const parent = spawn(process.execPath, [program, watch], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(parent.stdout, "data")) as [Buffer];
    const child = Number(line.toString());
    t.after(() => {
      if (isRunning(child)) process.kill(child, "SIGKILL");
    });
    assert.ok(isRunning(child));
    parent.kill("SIGKILL");
    await once(parent, "exit");
    const end = performance.now() + 30_000;
    while (isRunning(child)) {
      assert.ok(performance.now() < end, "the child still runs");
      await delay(20);
    }
  });
}
