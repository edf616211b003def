// A Store process of the fault runs: it has the cluster open, and its clients work on the keys of a round until they
// are told to stop. It is killed, stopped and thawed in the middle of that, and so is what it stands on: an
// answer that the service is not available is no answer; any other error ends it.
import { StoreError } from "../../src/index.ts";
import { doOne, wanted } from "../proof/linearizable/client.ts";
import { openLog } from "../proof/linearizable/log.ts";
import { bindingTarget, NoAnswer, type Target } from "../proof/linearizable/target.ts";
import { createRandom } from "../support/random.ts";
import { type ClusterPlace, openStrictly } from "./open-cluster.ts";

export interface LoadTask {
  readonly place: ClusterPlace;
  readonly bucket: string;
  readonly clients: number;
  /** Where all processes' clocks begin, in nanoseconds. */
  readonly zero: string;
}

export interface LoadRound {
  readonly log: string;
  readonly seed: number;
  /** Makes the names of its values its own. */
  readonly name: string;
  readonly prefix: string;
  readonly keys: readonly string[];
  /** So many milliseconds long are the same few keys wanted by all; then the next ones. */
  readonly pace: number;
}

export type ToLoad =
  | { readonly say: "run"; readonly round: LoadRound }
  | { readonly say: "stop" }
  /** Clear away what is left of what nobody names: some of it is this process's own to clear. */
  | { readonly say: "sweep" };

/** Since the round began. */
export interface LoadCounts {
  readonly writes: number;
  readonly refusals: number;
  /** Of those that the service was not available for, in milliseconds. */
  readonly longestRefusal: number;
  readonly words: string;
}

export type FromLoad =
  | { readonly said: "ready" | "swept" }
  | { readonly said: "counts" | "done"; readonly counts: LoadCounts };

const toldEvery = 50;

const task = JSON.parse(process.argv[2]!) as LoadTask;
const zero = BigInt(task.zero);
// One clock for all processes of the machine, which no one sets.
const now = () => Number(process.hrtime.bigint() - zero);
const store = await openStrictly(task.place);
const target = bindingTarget(store.bucket(task.bucket));
let isStopped = true;

async function run({ log: path, seed, name, prefix, keys, pace }: LoadRound): Promise<void> {
  const log = openLog(path);
  const random = createRandom(seed);
  const counts = { writes: 0, refusals: 0, longestRefusal: 0, words: "" };
  let names = 0;
  // Half of the small ones become files: it is bytes beside the records that faults may lose or leave.
  const newName = (shape: string) =>
    `${shape === "small" && random.below(2) === 0 ? "file" : shape} ${name}.${names++}`;
  const begun = Date.now();
  const watched = watching(target, counts);
  async function work(): Promise<void> {
    const client = { target: watched, log, random, now, newName, prefix, keys, seen: new Map() };
    while (!isStopped) {
      const first = Math.floor((Date.now() - begun) / pace);
      await doOne(client, Math.min(first, keys.length - wanted));
    }
  }
  isStopped = false;
  const telling = setInterval(() => tell({ said: "counts", counts }), toldEvery);
  await Promise.all(Array.from({ length: task.clients }, work));
  clearInterval(telling);
  log.close();
  tell({ said: "done", counts });
}

/** The same target, with what it answers counted. */
function watching(
  target: Target,
  counts: { -readonly [name in keyof LoadCounts]: LoadCounts[name] },
): Target {
  async function answered<T>(work: Promise<T>): Promise<T> {
    const begun = Date.now();
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof StoreError) || error.reason !== "ServiceUnavailable") throw error;
      counts.refusals++;
      counts.longestRefusal = Math.max(counts.longestRefusal, Date.now() - begun);
      counts.words = error.message;
      throw new NoAnswer(error.message);
    }
  }
  return {
    takesSmallParts: target.takesSmallParts,
    get: (key) => answered(target.get(key)),
    head: (key) => answered(target.head(key)),
    list: (prefix, startAfter, limit) => answered(target.list(prefix, startAfter, limit)),
    async put(key, name, condition) {
      const isStored = await answered(target.put(key, name, condition));
      if (isStored) counts.writes++;
      return isStored;
    },
    async delete(keys) {
      await answered(target.delete(keys));
      counts.writes++;
    },
  };
}

function tell(message: FromLoad): void {
  process.send!(message);
}

process.on("message", (message: ToLoad) => {
  if (message.say === "stop") isStopped = true;
  else if (message.say === "sweep") store.engine.sweep().then(() => tell({ said: "swept" }), fail);
  else run(message.round).catch(fail);
});
function fail(error: unknown): never {
  console.error(error);
  process.exit(1);
}
// Ends with the process that started it, whatever became of that one.
process.once("disconnect", () => process.exit());
tell({ said: "ready" });
