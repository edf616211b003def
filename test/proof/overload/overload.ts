// Overload proof: clients, scripts and a busy machine demand more than the server has. The checks
// after each phase are in checks.ts. Probe, writer and attackers are separate processes.
import { treeMemory } from "../../support/process-tree.ts";
import type { Budget, Figures, Proof } from "../proof.ts";
import {
  assertAnswers,
  assertLedger,
  assertMemoryBack,
  assertSameProcesses,
  measureBefore,
  scriptIsBack,
} from "./checks.ts";
import { pipelines, slowReaders, slowWriters, wrongSignatures } from "./clients.ts";
import { bursts, idle, requestBursts } from "./connections.ts";
import { badScripts, busyMachine, descriptors, fullDisk } from "./machine.ts";
import { longScale, type Phase, type Scale } from "./phase.ts";
import { type OverloadScene, openOverloadScene } from "./scene.ts";

export const phases: readonly Phase[] = [
  bursts,
  requestBursts,
  idle,
  pipelines,
  slowReaders,
  slowWriters,
  wrongSignatures,
  busyMachine,
  fullDisk,
  badScripts,
  descriptors,
];

/** Each connection needs a descriptor; use the hard limit of the system. */
const manyDescriptors = '"$(ulimit -Hn)"';
const MiB = 1024 * 1024;

export const overload: Proof = createOverload(longScale);

export function createOverload(scale: Scale, chosen: readonly Phase[] = phases): Proof {
  return {
    name: "overload",
    unit: "phases",
    bar: chosen.length,
    async run(budget) {
      const scene = await openOverloadScene(manyDescriptors);
      try {
        return await loadInPhases(scene, scale, chosen, budget);
      } finally {
        await scene.close();
      }
    },
  };
}

async function loadInPhases(
  scene: OverloadScene,
  scale: Scale,
  chosen: readonly Phase[],
  budget: Budget,
): Promise<Figures> {
  await warmUp(scene, scale);
  const rows: Row[] = [];
  for (let done = 0; budget.more(done); done++) {
    // A short run on a slow machine does not reach all phases, so the seed selects the first.
    const row = await loadOnce(scene, chosen[(budget.seed + done) % chosen.length]!, scale);
    rows.push(row);
    budget.say(rowText(row));
  }
  const worst = (what: keyof Omit<Row, "phase" | "counts">) => Math.max(...rows.map((row) => row[what]));
  return {
    phases: rows.length,
    "slowest answer after a phase in ms": worst("answer"),
    "most MiB": worst("peakMiB"),
    "most MiB after a phase": worst("afterMiB"),
    "acknowledged writes": worst("acknowledged"),
    "acknowledged writes lost": 0,
    "processes replaced without cause": 0,
  };
}

/** Lets heaps, caches and compiled code grow, so that memory is compared with a warm server. */
async function warmUp(scene: OverloadScene, scale: Scale): Promise<void> {
  await startWriter(scene);
  for (let round = 0; round < 20; round++) await scene.probe.call("now", scene.places);
  await bursts.run(scene, { ...scale, bursts: 4 });
  await scene.writer.call("stop", null);
}

function startWriter({ writer, url, key, ports }: OverloadScene): Promise<void> {
  return writer.call("start", { url, key, scriptPort: ports.script });
}

interface Row {
  readonly phase: string;
  readonly counts: string;
  /** The slowest answer in milliseconds after the phase; `answerMeanwhile`: during the phase. */
  readonly answer: number;
  readonly answerMeanwhile: number;
  readonly unanswered: number;
  readonly beforeMiB: number;
  readonly peakMiB: number;
  readonly afterMiB: number;
  readonly acknowledged: number;
}

async function loadOnce(scene: OverloadScene, phase: Phase, scale: Scale): Promise<Row> {
  const { name, replaces } = phase;
  const before = measureBefore(scene);
  let peak = before.memory;
  const looking = setInterval(() => {
    peak = Math.max(peak, treeMemory(scene.server.pid));
  }, 200);
  try {
    await startWriter(scene);
    await scene.probe.call("watch", scene.places);
    const counts = await phase.run(scene, scale);
    const meanwhile = await scene.probe.call("stopWatching", null);
    if (replaces === "scripts") await scriptIsBack(scene);
    const answer = await assertAnswers(scene, name);
    await scene.writer.call("stop", null);
    const { acknowledged } = await assertLedger(scene, name);
    assertSameProcesses(scene, before, name, replaces);
    const after = await assertMemoryBack(scene, before, name);
    return {
      ...{ phase: name, answer, acknowledged },
      counts: Object.entries(counts)
        .map(([what, count]) => `${what} ${count}`)
        .join(", "),
      answerMeanwhile: Math.max(0, ...meanwhile.map(({ milliseconds }) => milliseconds)),
      unanswered: meanwhile.filter(({ status }) => status === 0).length,
      beforeMiB: Math.round(before.memory / MiB),
      peakMiB: Math.round(peak / MiB),
      afterMiB: Math.round(after / MiB),
    };
  } finally {
    clearInterval(looking);
  }
}

function rowText(row: Row): string {
  const { phase, counts, answer, answerMeanwhile, unanswered, beforeMiB, peakMiB, afterMiB, acknowledged } =
    row;
  const cells = [
    phase.padEnd(24),
    `answers ${answer} ms after, ${answerMeanwhile} ms meanwhile${unanswered > 0 ? `, ${unanswered} ports silent` : ""}`.padEnd(
      54,
    ),
    `MiB ${beforeMiB} → ${peakMiB} → ${afterMiB}`.padEnd(22),
    `${acknowledged} writes`.padEnd(14),
    counts,
  ];
  return cells.join(" | ");
}
