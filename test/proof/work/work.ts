// Work proof: callers with the least rights repeat the requests that cost most, because a request's
// size is multiplied by stored data or by itself: each alone, then all together. Meanwhile every
// port answers within a second, and memory stays as it was.
import assert from "node:assert/strict";
import { treeCpuMilliseconds, treeMemory } from "../../support/process-tree.ts";
import type { RepeatedRequest } from "../overload/attacker.ts";
import { assertAnswers, assertMemoryBack, assertSameProcesses, measureBefore } from "../overload/checks.ts";
import { type OverloadScene, openOverloadScene } from "../overload/scene.ts";
import type { Budget, Figures, Proof } from "../proof.ts";
import { anonymousCases } from "./anonymous-cases.ts";
import { consoleCases } from "./console-cases.ts";
import { keyCases } from "./key-cases.ts";
import { settingsCases } from "./settings-cases.ts";
import { openWorkStage, type WorkCase } from "./stage.ts";

export interface WorkScale {
  readonly aloneMilliseconds: number;
  readonly togetherMilliseconds: number;
  /** Number of versions, folders and parts that requests are multiplied with. */
  readonly stored: number;
}

const longWork: WorkScale = { aloneMilliseconds: 20_000, togetherMilliseconds: 600_000, stored: 4000 };
export const shortWork: WorkScale = { aloneMilliseconds: 1000, togetherMilliseconds: 5000, stored: 300 };

/** In this order, because later cases use what earlier ones have stored. */
const cases: readonly WorkCase[] = [...anonymousCases, ...keyCases, ...consoleCases, ...settingsCases];
const concurrentRequests = 4;
const descriptors = 4096;
/** Time between two probes of all ports. */
const pause = 100;
const MiB = 1024 * 1024;

/** One unit is a case alone; the last is all cases together. */
export const workUnits = cases.length + 1;
export const work: Proof = createWork(longWork);

export function createWork(scale: WorkScale): Proof {
  return {
    name: "work",
    unit: "loads",
    bar: workUnits,
    async run(budget) {
      const scene = await openOverloadScene(descriptors);
      try {
        return await loadInTurn(scene, scale, budget);
      } finally {
        await scene.close();
      }
    },
  };
}

interface Load {
  readonly name: string;
  readonly requests: readonly RepeatedRequest[];
  readonly milliseconds: number;
}

async function loadInTurn(scene: OverloadScene, scale: WorkScale, budget: Budget): Promise<Figures> {
  const stage = openWorkStage(scene, scale.stored);
  const alone: Load[] = [];
  for (const { name, prepare } of cases) {
    alone.push({ name, requests: [await prepare(stage)], milliseconds: scale.aloneMilliseconds });
  }
  const requests = alone.flatMap((load) => load.requests);
  const together: Load = { name: "all together", requests, milliseconds: scale.togetherMilliseconds };
  // Heaps, caches and compiled code grow first, so that memory is compared with a warm server.
  await repeat(scene, { ...together, milliseconds: scale.aloneMilliseconds });
  await repeat(scene, { ...together, milliseconds: scale.aloneMilliseconds });
  const loads = [...alone, together];
  const rows: Row[] = [];
  // A run too short for all loads begins at the one that the seed selects.
  for (let done = 0; done < loads.length && (done === 0 || budget.more(done)); done++) {
    const row = await loadOnce(scene, loads[(budget.seed + done) % loads.length]!);
    rows.push(row);
    budget.say(rowText(row));
  }
  const worst = (what: "answer" | "peakMiB" | "afterMiB") => Math.max(...rows.map((row) => row[what]));
  return {
    loads: rows.length,
    requests: rows.reduce((sum, { requests }) => sum + requests, 0),
    "slowest answer of a port meanwhile in ms": worst("answer"),
    "most MiB": worst("peakMiB"),
    "most MiB after a load": worst("afterMiB"),
  };
}

interface Row {
  readonly name: string;
  readonly requests: number;
  readonly statuses: string;
  /** Processor time of the server for each request, in milliseconds, with that for the probes. */
  readonly cost: number;
  /** The slowest answer of a port meanwhile, in milliseconds. */
  readonly answer: number;
  readonly beforeMiB: number;
  readonly peakMiB: number;
  readonly afterMiB: number;
}

async function repeat({ attackers }: OverloadScene, { requests, milliseconds }: Omit<Load, "name">) {
  return attackers[0]!.call("repeat", { requests, milliseconds, at: concurrentRequests });
}

async function loadOnce(scene: OverloadScene, load: Load): Promise<Row> {
  const before = measureBefore(scene);
  const spent = treeCpuMilliseconds(scene.server.pid);
  let isOver = false;
  const loading = repeat(scene, load).finally(() => {
    isOver = true;
  });
  let [answer, peak] = [0, before.memory];
  try {
    while (!isOver) {
      answer = Math.max(answer, await assertAnswers(scene, `the load "${load.name}" had begun`));
      peak = Math.max(peak, treeMemory(scene.server.pid));
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  } finally {
    await loading;
  }
  const statuses = await loading;
  const cost = treeCpuMilliseconds(scene.server.pid) - spent;
  assertSameProcesses(scene, before, load.name, "nothing");
  const after = await assertMemoryBack(scene, before, load.name);
  const requests = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  assert.ok(requests > (statuses[0] ?? 0), `${load.name}: no request was answered`);
  return {
    ...{ name: load.name, requests, answer, cost: Math.round(cost / requests) },
    statuses: Object.entries(statuses)
      .map(([status, count]) => `${count} × ${status}`)
      .join(", "),
    beforeMiB: Math.round(before.memory / MiB),
    peakMiB: Math.round(peak / MiB),
    afterMiB: Math.round(after / MiB),
  };
}

function rowText({ name, answer, cost, statuses, beforeMiB, peakMiB, afterMiB }: Row): string {
  const memory = `MiB ${beforeMiB} → ${peakMiB} → ${afterMiB}`;
  return [
    name.padEnd(72),
    `answers ${answer} ms`.padEnd(16),
    `${cost} ms each`.padEnd(12),
    memory.padEnd(22),
    statuses,
  ].join(" | ");
}
