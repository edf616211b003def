// Starts the worker processes of the recorded histories, gives each its share of a round, kills
// some workers and lets replacements finish their shares.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Random } from "../random.ts";
import type { FromWorker, RoundTask, WorkerTask } from "./worker.ts";

export interface WorkerPlan {
  /** Compiled file that calls `serveRounds`. */
  readonly program: URL;
  readonly task: WorkerTask;
  /** Operations per round. */
  readonly share: number;
  /** Kills a process that the worker depends on, instead of the worker. */
  readonly killOther?: (random: Random) => void;
}

export interface Workers {
  readonly plans: readonly WorkerPlan[];
  at(index: number): ChildProcess;
  /** Starts a new process instead of a killed one. */
  replace(index: number): Promise<void>;
  end(): Promise<void>;
}

export async function startWorkers(plans: readonly WorkerPlan[]): Promise<Workers> {
  const children: ChildProcess[] = [];
  async function start({ program, task }: WorkerPlan, index: number): Promise<void> {
    // Outside of this process group: Ctrl-C ends the proof, which then ends the workers.
    const child = fork(fileURLToPath(program), { detached: true });
    children[index] = child;
    child.send({ start: task });
    await receive(child, "ready");
  }
  async function end(): Promise<void> {
    await Promise.all(children.map(kill));
  }
  try {
    await Promise.all(plans.map(start));
  } catch (error) {
    await end();
    throw error;
  }
  return { plans, at: (index) => children[index]!, replace: (index) => start(plans[index]!, index), end };
}

export interface RoundPlan {
  readonly bucket: string;
  /** Folder of the log files. */
  readonly logs: string;
  readonly prefix: string;
  readonly keys: readonly string[];
  readonly round: number;
  readonly random: Random;
}

/** Runs one round; returns the log files of all its processes and the number of kills. */
export async function runRound(
  workers: Workers,
  { bucket, logs, prefix, keys, round, random }: RoundPlan,
): Promise<{ paths: string[]; kills: number }> {
  const { plans } = workers;
  mkdirSync(logs, { recursive: true });
  const paths: string[] = [];
  // Every round kills one process; every second round may kill two.
  const victims = new Set([random.below(plans.length), round % 2 === 0 ? random.below(plans.length) : -1]);
  let kills = 0;

  function createTask(index: number, done: number, reportAt: number): RoundTask {
    const name = `${round}.${index}.${paths.length}`;
    const log = join(logs, name);
    paths.push(log);
    const { share } = plans[index]!;
    return { bucket, log, seed: random.below(2 ** 31), name, prefix, keys, done, share, reportAt };
  }

  async function takePart({ share, killOther }: WorkerPlan, index: number): Promise<void> {
    const reportAt = victims.has(index) ? random.between(1, share - 1) : -1;
    const task = createTask(index, 0, reportAt);
    workers.at(index).send({ round: task });
    if (reportAt === -1) return receive(workers.at(index), "done");
    await receive(workers.at(index), "there");
    kills++;
    if (killOther !== undefined) {
      killOther(random);
      return receive(workers.at(index), "done");
    }
    await kill(workers.at(index));
    await workers.replace(index);
    const rest = createTask(index, countDone(task.log), -1);
    workers.at(index).send({ round: rest });
    await receive(workers.at(index), "done");
  }

  const ended = await Promise.allSettled(plans.map(takePart));
  for (const result of ended) if (result.status === "rejected") throw result.reason;
  return { paths, kills };
}

/** Returns the approximate number of finished operations, which only selects the next keys. */
function countDone(log: string): number {
  return readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => !line.startsWith('["begin"')).length;
}

/** Resolves when the process sends the message; rejects if it exits first. */
function receive(child: ChildProcess, wanted: FromWorker): Promise<void> {
  return new Promise((resolve, reject) => {
    const listen = (message: FromWorker) => {
      if (message !== wanted) return;
      stop();
      resolve();
    };
    const fail = (code: number | null, signal: string | null) => {
      stop();
      reject(new Error(`A worker process exited unexpectedly with ${String(code ?? signal)}.`));
    };
    const stop = () => {
      child.off("message", listen);
      child.off("exit", fail);
    };
    child.on("message", listen);
    child.on("exit", fail);
    if (child.exitCode !== null || child.signalCode !== null) fail(child.exitCode, child.signalCode);
  });
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}
