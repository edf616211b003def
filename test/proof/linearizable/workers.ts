// Starts the worker processes of the recorded histories, gives each its share of a round, kills
// some workers and lets replacements finish their shares.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Random } from "../../support/random.ts";
import type { FromProcess, ProcessTask, RoundTask } from "./process.ts";
import type { S3Beside } from "./s3.ts";

export interface Workers {
  readonly size: number;
  /** The S3 server used by the last worker. */
  readonly s3: S3Beside;
  at(index: number): ChildProcess;
  /** Starts a new process in place of a killed one. */
  replace(index: number): Promise<void>;
  end(): Promise<void>;
}

const program = fileURLToPath(new URL("./process.js", import.meta.url));

/** Starts `count` processes that open the directory, and a process whose clients use the S3 API. */
export async function startWorkers(count: number, task: ProcessTask, s3: S3Beside): Promise<Workers> {
  const children: ChildProcess[] = [];
  async function start(index: number): Promise<void> {
    const isOfS3 = index === count;
    const child = fork(program, [JSON.stringify(isOfS3 ? { ...task, s3: s3.address } : task)]);
    children[index] = child;
    await told(child, "ready");
  }
  async function end(): Promise<void> {
    await Promise.all(children.map(killed));
  }
  try {
    await Promise.all(Array.from({ length: count + 1 }, (_, i) => start(i)));
  } catch (error) {
    await end();
    throw error;
  }
  return { size: count + 1, s3, at: (index) => children[index]!, replace: start, end };
}

export interface RoundPlan {
  readonly bucket: string;
  /** Folder of the log files. */
  readonly logs: string;
  readonly prefix: string;
  readonly keys: readonly string[];
  /** Operations per process and round. */
  readonly share: number;
  /** Operations per round of the process whose clients use the S3 API. */
  readonly shareOfS3: number;
  readonly round: number;
  readonly random: Random;
}

/** Runs one round; returns the log files of all its processes and the number of kills. */
export async function runRound(
  workers: Workers,
  plan: RoundPlan,
): Promise<{ paths: string[]; kills: number }> {
  const { logs, random, round } = plan;
  const isOfS3 = (index: number) => index === workers.size - 1;
  const shareOf = (index: number) => (isOfS3(index) ? plan.shareOfS3 : plan.share);
  mkdirSync(logs, { recursive: true });
  const paths: string[] = [];
  // Every round kills one process; every second round may kill two.
  const victims = new Set([random.below(workers.size), round % 2 === 0 ? random.below(workers.size) : -1]);
  let kills = 0;

  function taskOf(index: number, done: number, tellAt: number): RoundTask {
    const name = `${round}.${index}.${paths.length}`;
    const log = join(logs, name);
    paths.push(log);
    const { bucket, prefix, keys } = plan;
    return {
      bucket,
      log,
      seed: random.below(2 ** 31),
      name,
      prefix,
      keys,
      done,
      share: shareOf(index),
      tellAt,
    };
  }

  async function takePart(index: number): Promise<void> {
    const tellAt = victims.has(index) ? random.between(1, shareOf(index) - 1) : -1;
    const task = taskOf(index, 0, tellAt);
    workers.at(index).send(task);
    if (tellAt === -1) return told(workers.at(index), "done");
    await told(workers.at(index), "there");
    kills++;
    if (isOfS3(index)) {
      workers.s3.killOne(random);
      return told(workers.at(index), "done");
    }
    await killed(workers.at(index));
    await workers.replace(index);
    const rest = taskOf(index, doneIn(task.log), -1);
    workers.at(index).send(rest);
    await told(workers.at(index), "done");
  }

  const ended = await Promise.allSettled(Array.from({ length: workers.size }, (_, i) => takePart(i)));
  for (const result of ended) if (result.status === "rejected") throw result.reason;
  return { paths, kills };
}

/** Returns the approximate number of finished operations, which only selects the next keys. */
function doneIn(log: string): number {
  return readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => !line.startsWith('["begin"')).length;
}

/** Resolves when the process sends the message; rejects if it exits first. */
function told(child: ChildProcess, wanted: FromProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    const listen = (message: FromProcess) => {
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

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}
