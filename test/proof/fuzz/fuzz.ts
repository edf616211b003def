// Fuzz proof: runs mutated inputs on every target in worker threads. Each must end in time, with a
// value or a documented error.
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { Budget, Figures, Proof } from "../proof.ts";
import type { BatchReport } from "./batch.ts";
import { targets } from "./targets.ts";
import { type Job, sharedBytes, shownInput } from "./worker.ts";

type Told =
  | { readonly kind: "held"; readonly report: BatchReport }
  | { readonly kind: "broke"; readonly why: string; readonly index: number; readonly input: string };

/** Inputs per target in the first round: few, so that a small budget still covers every target. */
const firstRound = 500;
const longestRound = 20_000;
/** An input that runs longer than this counts as endless. */
const patienceMilliseconds = 30_000;

export const fuzz: Proof = {
  name: "fuzz",
  unit: "inputs a target",
  bar: 1_000_000,
  async run(budget) {
    const threads = Array.from({ length: Math.min(4, availableParallelism()) }, startThread);
    try {
      return await runRounds(threads, budget);
    } finally {
      await Promise.all(threads.map((thread) => thread.stop()));
    }
  },
};

async function runRounds(threads: readonly Thread[], budget: Budget): Promise<Figures> {
  let done = 0;
  let slowest = 0;
  const outcomes = new Map<string, Set<string>>(targets.map(({ name }) => [name, new Set()]));
  for (let round = 0; budget.more(done); round++) {
    const inputs = Math.min(longestRound, firstRound * 2 ** round);
    const jobs = targets.map(({ name }, i): Job => {
      return { target: name, inputs, seed: (budget.seed + round * 7919 + i * 104_729) >>> 0 };
    });
    let told = Date.now();
    const take = async (thread: Thread) => {
      for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
        const report = await thread.run(job);
        slowest = Math.max(slowest, report.slowestMilliseconds);
        for (const outcome of Object.keys(report.outcomes)) outcomes.get(job.target)!.add(outcome);
        if (Date.now() - told < 5000) continue;
        told = Date.now();
        budget.say(`${done} inputs a target, and ${targets.length - jobs.length} targets of the next round`);
      }
    };
    await Promise.all(threads.map(take));
    done += inputs;
    budget.say(`${done} inputs for each of ${targets.length} targets, slowest ${slowest.toFixed(1)} ms`);
  }
  return {
    targets: targets.length,
    "inputs a target": done,
    inputs: done * targets.length,
    "kinds of outcome": [...outcomes.values()].reduce((sum, kinds) => sum + kinds.size, 0),
    crashes: 0,
    "slowest input in milliseconds": Math.ceil(slowest),
  };
}

interface Thread {
  run(job: Job): Promise<BatchReport>;
  stop(): Promise<unknown>;
}

function startThread(): Thread {
  const shared = new SharedArrayBuffer(sharedBytes);
  const begun = new Int32Array(shared, 0, 1);
  const worker = new Worker(new URL("./worker.js", import.meta.url), { workerData: shared });
  return {
    stop: () => worker.terminate(),
    run(job) {
      return new Promise((resolve, reject) => {
        let before = Atomics.load(begun, 0);
        const settle = (end: () => void) => {
          clearInterval(watch);
          worker.removeAllListeners("message").removeAllListeners("error");
          end();
        };
        const fail = (why: string, input: string) =>
          settle(() =>
            reject(new Error(`${job.target}: an input (batch seed ${job.seed}) ${why}\n${shown(input)}`)),
          );
        const watch = setInterval(() => {
          if (Atomics.load(begun, 0) === before) fail("does not end.", shownInput(shared));
          before = Atomics.load(begun, 0);
        }, patienceMilliseconds);
        worker.once("error", (error) => fail(`ended its thread: ${error.stack}`, shownInput(shared)));
        worker.once("message", (told: Told) => {
          if (told.kind === "held") settle(() => resolve(told.report));
          else fail(`(its ${told.index}th) ${told.why}`, told.input);
        });
        worker.postMessage(job);
      });
    },
  };
}

const shownLetters = 3000;

function shown(input: string): string {
  const text = JSON.stringify(input);
  return text.length <= shownLetters
    ? `The input: ${text}`
    : `The input, ${input.length} characters: ${text.slice(0, shownLetters)}… and ends: ${text.slice(-200)}`;
}
