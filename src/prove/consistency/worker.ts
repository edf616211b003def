// A worker process of the recorded histories: its clients work on the keys of a round until its
// share is done or it is killed.
import { createRandom } from "../random.ts";
import { doOne, wanted } from "./client.ts";
import { openLog } from "./log.ts";
import type { Target } from "./target.ts";

export interface WorkerTask {
  readonly directory: string;
  readonly buckets: readonly string[];
  readonly clients: number;
  /** Start of the shared clock, in nanoseconds. */
  readonly zero: string;
}

export interface RoundTask {
  readonly bucket: string;
  readonly log: string;
  readonly seed: number;
  /** Prefix that makes the names of this process's values unique. */
  readonly name: string;
  readonly prefix: string;
  readonly keys: readonly string[];
  /** Operations already done by this process or by the process that it replaces. */
  readonly done: number;
  readonly share: number;
  /** Sends "there" after this many operations, so that the parent can kill this process. */
  readonly reportAt: number;
}

export type ToWorker<T extends WorkerTask> = { readonly start: T } | { readonly round: RoundTask };
export type FromWorker = "ready" | "there" | "done";

/** Runs this process as a worker, on the targets that `open` returns for the buckets. */
export function serveRounds<T extends WorkerTask>(
  open: (task: T) => Promise<ReadonlyMap<string, Target>>,
): void {
  let task: T | undefined;
  let targets: ReadonlyMap<string, Target> = new Map();
  async function receive(message: ToWorker<T>): Promise<void> {
    if ("round" in message) {
      await runRound(message.round, task!, targets.get(message.round.bucket)!);
      send("done");
    } else {
      task = message.start;
      targets = await open(task);
      send("ready");
    }
  }
  process.on("message", (message: ToWorker<T>) => {
    receive(message).catch((error: unknown) => {
      console.error(error);
      process.exit(1);
    });
  });
  // Exit when the parent process ends, for any reason.
  process.once("disconnect", () => process.exit());
}

async function runRound(round: RoundTask, { clients, zero }: WorkerTask, target: Target): Promise<void> {
  const { log: path, seed, name, prefix, keys, share, reportAt } = round;
  const begin = BigInt(zero);
  // hrtime is monotonic and common to all processes of the machine.
  const now = () => Number(process.hrtime.bigint() - begin);
  const log = openLog(path);
  let { done } = round;
  let names = 0;
  const newName = (shape: string) => `${shape} ${name}.${names++}`;
  const random = createRandom(seed);
  async function work(): Promise<void> {
    const client = { target, log, random, now, newName, prefix, keys, seen: new Map() };
    while (done < share) {
      const first = Math.floor((done / share) * (keys.length - wanted + 1));
      if (done++ === reportAt) send("there");
      await doOne(client, first);
    }
  }
  await Promise.all(Array.from({ length: clients }, work));
  log.close();
}

function send(message: FromWorker): void {
  process.send!(message);
}
