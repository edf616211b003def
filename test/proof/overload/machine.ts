// Phases with scarce resources: CPU cores, disk space, descriptors, and scripts that misbehave.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { signRaw } from "../../s3/raw.ts";
import { scriptProcesses, until } from "../../script/inside.ts";
import {
  assertAnswers,
  assertLedger,
  assertSameProcesses,
  measureBefore,
  scriptIsBack,
  untilAnswers,
} from "./checks.ts";
import { bursts, holdIdle, release } from "./connections.ts";
import { hostileAddresses, type Phase } from "./phase.ts";
import { type OverloadScene, openOverloadScene } from "./scene.ts";

/** Runs the work while `count` processes use all CPU time, then ends each of them by its ID. */
async function whileBusy<T>(count: number, work: () => Promise<T>): Promise<T> {
  const busy: ChildProcess[] = Array.from({ length: count }, () =>
    spawn("sh", ["-c", "while :; do :; done"], { stdio: "ignore" }),
  );
  try {
    return await work();
  } finally {
    const ended = busy.map((child) => once(child, "exit"));
    for (const child of busy) child.kill("SIGKILL");
    await Promise.all(ended);
  }
}

async function honestReads(scene: OverloadScene, count: number): Promise<Record<number, number>> {
  const raw = { method: "GET", path: "/bucket/small" };
  const { headers } = signRaw(scene.url, raw, { key: scene.key, form: "header" });
  return scene.attackers[0]!.call("flood", {
    ...{ port: scene.ports.s3, path: raw.path, headers: { ...headers }, at: 400, count },
    addresses: hostileAddresses,
  });
}

export const busyMachine: Phase = {
  name: "a busy machine",
  replaces: "nothing",
  async run(scene, scale) {
    return whileBusy(scale.busyProcesses, async () => {
      const answers = await honestReads(scene, scale.honestRequests);
      const opened = await bursts.run(scene, { ...scale, bursts: 1 });
      // The machine is still busy: the server must catch up without replacing a process.
      const caughtUp = await untilAnswers(scene, scene.places, "on a busy machine");
      const answered = { "honest reads answered": answers[200] ?? 0, "ms to catch up": caughtUp };
      return { processes: scale.busyProcesses, ...answered, ...opened };
    });
  },
};

export const fullDisk: Phase = {
  name: "a full disk and a burst",
  replaces: "nothing",
  async run(scene, scale) {
    if (!scene.disk.isSmall) return { "NOT TESTED: no small disk": 1 };
    scene.disk.fill(0);
    try {
      const opened = await bursts.run(scene, { ...scale, bursts: 2 });
      // Reads must work although writes fail.
      await assertAnswers(scene, "a burst on a full disk");
      return opened;
    } finally {
      scene.disk.empty();
    }
  },
};

const fewDescriptors = 256;

/** Starts a second server with a low descriptor limit and opens more connections than it allows. */
export const descriptors: Phase = {
  name: "no descriptors left",
  replaces: "nothing",
  async run() {
    const scene = await openOverloadScene(fewDescriptors);
    try {
      await scene.writer.call("start", { url: scene.url, key: scene.key, scriptPort: scene.ports.script });
      const before = measureBefore(scene);
      const connected = await holdIdle(scene, 4 * 3 * fewDescriptors);
      await release(scene);
      await assertAnswers(scene, "having no descriptors left");
      await scene.writer.call("stop", null);
      const { acknowledged } = await assertLedger(scene, "having no descriptors left");
      assertSameProcesses(scene, before, "having no descriptors left", "nothing");
      assert.ok(acknowledged > 0, "writes were acknowledged before and after");
      return { connected, "acknowledged writes": acknowledged };
    } finally {
      await scene.close();
    }
  },
};

/** Lets a script misbehave: other ports answer within a second, the script after a restart. */
export const badScripts: Phase = {
  name: "scripts as a nuisance",
  replaces: "scripts",
  async run(scene, { nuisances }) {
    const processes = scriptProcesses(scene.server.pid).length;
    // Skip /readyz too: it fails while no process of the script is up.
    const others = scene.places.filter(({ name }) => name !== "script" && name !== "readyz");
    const counts: Record<string, number> = {};
    for (const nuisance of nuisances) {
      const answers = scene.attackers[0]!.call("flood", {
        ...{ port: scene.ports.script, path: `/nuisance/${nuisance}`, headers: {}, at: 2, count: 2 },
        addresses: hostileAddresses,
      });
      // Awaited below; this avoids an unhandled rejection if a check fails first.
      answers.catch(() => {});
      await assertAnswers(scene, `a script's ${nuisance}`, others);
      counts[`ms until back from ${nuisance}`] = await scriptIsBack(scene);
      await answers;
      await assertAnswers(scene, `a script's ${nuisance}`, others);
    }
    await scriptIsBack(scene);
    const areBack = () => scriptProcesses(scene.server.pid).length === processes;
    await until(areBack, "blocked processes are ended, and as many run as before");
    return counts;
  },
};
