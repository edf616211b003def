// A worker process of the recorded histories: its clients work on the keys of a round, through a
// store or the S3 API, until its share is done or it is killed.
import { openStore } from "../../../src/index.ts";
import { createRandom } from "../../support/random.ts";
import { doOne, wanted } from "./client.ts";
import { openLog } from "./log.ts";
import { type S3Address, s3Target } from "./s3-target.ts";
import { bindingTarget, type Target } from "./target.ts";

export interface ProcessTask {
  readonly directory: string;
  readonly buckets: readonly string[];
  readonly clients: number;
  /** Start of the shared clock, in nanoseconds. */
  readonly zero: string;
  /** If set, the clients use this S3 endpoint instead of their own store. */
  readonly s3?: S3Address;
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
  readonly tellAt: number;
}

export type FromProcess = "ready" | "there" | "done";

const task = JSON.parse(process.argv[2]!) as ProcessTask;
const zero = BigInt(task.zero);
// hrtime is monotonic and common to all processes of the machine.
const now = () => Number(process.hrtime.bigint() - zero);
const targets = await openTargets(task);

async function openTargets({ directory, buckets, s3 }: ProcessTask): Promise<Map<string, Target>> {
  if (s3 !== undefined) return new Map(buckets.map((bucket) => [bucket, s3Target(s3, bucket)]));
  const store = await openStore(directory);
  return new Map(buckets.map((bucket) => [bucket, bindingTarget(store.bucket(bucket))]));
}

async function runRound({ bucket, log: path, seed, name, prefix, keys, done, share, tellAt }: RoundTask) {
  const target = targets.get(bucket)!;
  const log = openLog(path);
  let names = 0;
  const newName = (shape: string) => `${shape} ${name}.${names++}`;
  const random = createRandom(seed);
  async function work(): Promise<void> {
    const client = { target, log, random, now, newName, prefix, keys, seen: new Map() };
    while (done < share) {
      const first = Math.floor((done / share) * (keys.length - wanted + 1));
      if (done++ === tellAt) tell("there");
      await doOne(client, first);
    }
  }
  await Promise.all(Array.from({ length: task.clients }, work));
  log.close();
  tell("done");
}

function tell(message: FromProcess): void {
  process.send!(message);
}

process.on("message", (round: RoundTask) => {
  runRound(round).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});
// Exit when the parent process ends, for any reason.
process.once("disconnect", () => process.exit());
tell("ready");
