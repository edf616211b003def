// Checks after each overload phase: every port answers within a second, memory is back to normal,
// no process was replaced, and every acknowledged write is there.
import assert from "node:assert/strict";
import { s3Processes } from "../../s3/inside.ts";
import { scriptProcesses } from "../../script/inside.ts";
import type { Server } from "../../script/server.ts";
import { coreWaits, longestCoreWait, treeMemory } from "../../support/process-tree.ts";
import type { ProbedPlace } from "./probe.ts";
import type { OverloadScene } from "./scene.ts";
import type { LedgerReport } from "./writer.ts";

const answerMilliseconds = 1000;
const maxTries = 5;
const memoryRatio = 1.3;
const memoryPatience = 30_000;
/** Time limit for a script to restart and for a server without CPU time to catch up. */
const recoveryPatience = 30_000;

export interface Before {
  readonly memory: number;
  readonly s3: readonly number[];
  readonly scripts: readonly number[];
  readonly logLength: number;
}

export function measureBefore({ server }: OverloadScene): Before {
  return {
    memory: treeMemory(server.pid),
    s3: s3Processes(server.pid),
    scripts: scriptProcesses(server.pid),
    logLength: server.log().length,
  };
}

/** A server and the process that probes it. */
type Probing = Pick<OverloadScene, "probe" | "server">;

/**
 * Probes each place once; returns the places without a 200 in time, and the slowest answer. The
 * limit is extended by the time that the probe and the server waited for a CPU core.
 */
export async function probeOnce(
  { probe, server }: Probing,
  places: readonly ProbedPlace[],
): Promise<{ readonly slow: readonly string[]; readonly slowest: number; readonly waited: number }> {
  const since = coreWaits(server.pid);
  const { probed, lateMilliseconds } = await probe.call("now", places);
  const waited = longestCoreWait(server.pid, since) + lateMilliseconds;
  const slow = probed
    .filter(({ status, milliseconds }) => status !== 200 || milliseconds > answerMilliseconds + waited)
    .map(
      ({ name, status, milliseconds, error }) =>
        `${name}: ${error ?? status} after ${milliseconds} ms, of which ${waited} ms without a core`,
    );
  return { slow, slowest: Math.max(...probed.map(({ milliseconds }) => milliseconds)), waited };
}

/**
 * Probes each place; returns the slowest answer in milliseconds. Repeats a failed probe if the
 * server waited for a CPU core longer than an answer may take.
 */
export async function assertAnswers(
  scene: OverloadScene,
  phase: string,
  places: readonly ProbedPlace[] = scene.places,
): Promise<number> {
  let { slow, slowest, waited } = await probeOnce(scene, places);
  for (let tries = 0; slow.length > 0 && waited > answerMilliseconds && tries < maxTries; tries++) {
    ({ slow, slowest, waited } = await probeOnce(scene, places));
  }
  const words = `after ${phase}: not answered with 200 within ${answerMilliseconds} ms`;
  assert.deepEqual(slow, [], `${words}. The server's log ends:\n${endOfLog(scene.server)}`);
  return slowest;
}

/** Returns the last lines of the log, each cut to 200 characters. */
function endOfLog(server: Server): string {
  const lines = server.log().slice(-200_000).split("\n").slice(-20);
  return lines.map((line) => line.slice(0, 200)).join("\n");
}

/** Repeats until each place answers within a second; returns the time taken in milliseconds. */
export async function untilAnswers(
  scene: OverloadScene,
  places: readonly ProbedPlace[],
  what: string,
): Promise<number> {
  const began = Date.now();
  for (;;) {
    const { slow } = await probeOnce(scene, places);
    if (slow.length === 0) return Date.now() - began;
    const isOver = Date.now() - began > recoveryPatience;
    assert.ok(!isOver, `${what}: ${slow.join(", ")}. The server's log ends:\n${endOfLog(scene.server)}`);
  }
}

/** Waits until a restarted script answers; the other places are not probed. */
export function scriptIsBack(scene: OverloadScene): Promise<number> {
  // Probe /readyz too: it covers every script and reports a failure until its next check.
  const places = scene.places.filter(({ name }) => name === "script" || name === "readyz");
  return untilAnswers(scene, places, "the script serves again");
}

/** Waits for memory to drop; returns the lowest value in bytes. */
export async function assertMemoryBack(
  { server }: OverloadScene,
  { memory }: Before,
  phase: string,
): Promise<number> {
  const deadline = Date.now() + memoryPatience;
  let least = Number.POSITIVE_INFINITY;
  while (Date.now() < deadline) {
    least = Math.min(least, treeMemory(server.pid));
    if (least <= memory * memoryRatio) return least;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  const [now, before] = [least, memory].map((bytes) => Math.round(bytes / 2 ** 20));
  throw new Error(
    `The server still uses ${now} MiB ${memoryPatience} ms after ${phase}; before the phase it used ${before} MiB.`,
  );
}

/** Checks that no process was replaced; with "scripts", script processes may be replaced. */
export function assertSameProcesses(
  { server }: OverloadScene,
  before: Before,
  phase: string,
  replaced: "nothing" | "scripts",
): void {
  const log = server.log().slice(before.logLength);
  const lines =
    log.match(/^.*(blocked its event loop|ended \(|did not recover|could not be started).*$/gm) ?? [];
  const words = `after ${phase}, the log says:\n${lines.slice(-20).join("\n")}`;
  assert.deepEqual(s3Processes(server.pid), before.s3, `the processes of the S3 API are the same ${words}`);
  if (replaced === "scripts") return;
  assert.deepEqual(
    scriptProcesses(server.pid),
    before.scripts,
    `the script's processes are the same ${words}`,
  );
  assert.deepEqual(lines, [], words);
}

export async function assertLedger({ writer }: OverloadScene, phase: string): Promise<LedgerReport> {
  const report = await writer.call("check", null);
  assert.deepEqual(report.faults, [], `after ${phase}: acknowledged writes are missing`);
  return report;
}
