// A process of the recorded histories: it has the directory open, and its clients work on the keys of a round until
// the process has done its share. It is killed in the middle of it. One of them has nothing open: its clients speak
// to the S3 API.
import { openStore } from "../../../src/index.ts";
import { createRandom } from "../../support/random.ts";
import { doOne, wanted } from "./client.ts";
import { openLog } from "./log.ts";
import { type S3Address, s3Target } from "./s3-target.ts";
import { bindingTarget, type Target } from "./target.ts";

export interface ProcessTask {
  readonly directory: string;
  readonly bucket: string;
  readonly clients: number;
  /** Where all processes' clocks begin, in nanoseconds. */
  readonly zero: string;
  /** Its clients ask here, and not a store of its own. */
  readonly s3?: S3Address;
}

export interface RoundTask {
  readonly log: string;
  readonly seed: number;
  /** Makes the names of its values its own. */
  readonly name: string;
  readonly prefix: string;
  readonly keys: readonly string[];
  /** It goes on behind what it, or one before it, has done, up to its whole share. */
  readonly done: number;
  readonly share: number;
  /** Tells when it has done so much, to be killed. */
  readonly tellAt: number;
}

export type FromProcess = "ready" | "there" | "done";

const task = JSON.parse(process.argv[2]!) as ProcessTask;
const zero = BigInt(task.zero);
// One clock for all processes of the machine, which no one sets.
const now = () => Number(process.hrtime.bigint() - zero);
const target = await openTarget(task);

async function openTarget({ directory, bucket, s3 }: ProcessTask): Promise<Target> {
  if (s3 !== undefined) return s3Target(s3, bucket);
  return bindingTarget((await openStore(directory)).bucket(bucket));
}

async function runRound({ log: path, seed, name, prefix, keys, done, share, tellAt }: RoundTask) {
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
// Ends with the process that started it, whatever became of that one.
process.once("disconnect", () => process.exit());
tell("ready");
