// Proof: a store with a large bucket, killed under load, answers again within a second of opening.
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore } from "../../../src/index.ts";
import { runUntilKilled } from "../../../src/prove/kill/run-until-killed.ts";
import { assertNothingLeftOver } from "../../support/disk/on-disk.ts";
import { createRandom } from "../../support/random.ts";
import type { Budget, Figures, Proof } from "../proof.ts";
import type { LoadReport, LoadTask } from "./load.ts";
import type { Expected, OpenReport, OpenTask } from "./opener.ts";
import { fillStore } from "./store.ts";

const opener = fileURLToPath(new URL("./opener.js", import.meta.url));

/** The limit applies only to the long run, because it is promised for a million objects. */
export function recoveryOf(objects: number, mostMilliseconds = Number.POSITIVE_INFINITY): Proof {
  return {
    name: "recovery",
    unit: "kills",
    bar: 10,
    async run(budget) {
      const directory = await mkdtemp(join(tmpdir(), "store-recovery-"));
      try {
        await fillStore(directory, objects, budget.say);
        const figures = await killAndOpen(budget, directory, objects, mostMilliseconds);
        const store = await openStore(directory);
        await store.sweep();
        await store.close();
        assertNothingLeftOver(directory);
        return figures;
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    },
  };
}

export const recovery = recoveryOf(1_000_000, 1000);

async function killAndOpen(
  budget: Budget,
  directory: string,
  objects: number,
  most: number,
): Promise<Figures> {
  const random = createRandom(budget.seed);
  let kills = 0;
  let acknowledged = 0;
  let slowest = 0;
  let slowestSinceDeath = 0;
  for (; budget.more(kills); kills++) {
    const task: LoadTask = { directory, objects, seed: random.below(2 ** 31), round: kills };
    const reports = await runUntilKilled<LoadReport>({
      program: new URL("./load.js", import.meta.url),
      task,
      random,
      reports: random.between(500, 5000),
      // Never resolves, so the kill always comes after the given number of reports, amid writes.
      at: new Promise(() => {}),
    });
    const died = performance.now();
    acknowledged += reports.filter(({ said }) => said === "done").length;
    assert.ok(
      reports.some(({ said }) => said === "done"),
      "some writes were acknowledged before the kill",
    );
    const opened = await openAgain({ directory, expected: expectedAfter(reports) }, died);
    budget.say(`first answer ${Math.round(opened.milliseconds)} ms after opening began`);
    assert.ok(
      opened.milliseconds <= most,
      `the first answer took ${opened.milliseconds} ms; the limit is ${most} ms`,
    );
    slowest = Math.max(slowest, opened.milliseconds);
    slowestSinceDeath = Math.max(slowestSinceDeath, opened.sinceDeath);
  }
  return {
    kills,
    objects,
    "acknowledged writes": acknowledged,
    "slowest first answer since opening, ms": Math.round(slowest),
    "slowest first answer since the kill, with a new process, ms": Math.round(slowestSinceDeath),
  };
}

/** Returns every key with a write acknowledged since the last kill, latest first. */
function expectedAfter(reports: readonly LoadReport[]): Expected[] {
  const values = new Map<string, Expected["values"]>();
  for (const { said, key, value } of reports) {
    if (said === "done") {
      values.delete(key);
      values.set(key, [value]);
    } else values.set(key, [...(values.get(key) ?? []), value]);
  }
  const done = new Set(reports.filter(({ said }) => said === "done").map(({ key }) => key));
  return [...values]
    .filter(([key]) => done.has(key))
    .map(([key, values]) => ({ key, values }))
    .reverse();
}

async function openAgain(
  task: OpenTask,
  died: number,
): Promise<{ milliseconds: number; sinceDeath: number }> {
  const child = fork(opener);
  const exited = once(child, "exit");
  try {
    child.send(task);
    const { milliseconds, wrong } = await reportOf(child);
    const sinceDeath = performance.now() - died;
    assert.equal(wrong, undefined, "the first answer is correct");
    const rest = await reportOf(child);
    assert.equal(rest.wrong, undefined, "every write acknowledged before the kill is there");
    await exited;
    return { milliseconds: milliseconds!, sinceDeath };
  } finally {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await exited;
  }
}

async function reportOf(child: ReturnType<typeof fork>): Promise<OpenReport> {
  const [report] = await Promise.race([once(child, "message"), once(child, "exit")]);
  assert.ok(
    typeof report === "object" && report !== null,
    `the opening process ended with ${String(report)}`,
  );
  return report as OpenReport;
}
