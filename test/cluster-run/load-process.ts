// A Store process of the fault runs: its clients read and write until a message stops them.
// "Service unavailable" errors are counted as refusals; any other error ends the process.
import { StoreError } from "../../src/index.ts";
import { doOne, wanted } from "../../src/prove/consistency/client.ts";
import { openLog } from "../../src/prove/consistency/log.ts";
import { bindingTarget, NoAnswer, type Target } from "../../src/prove/consistency/target.ts";
import { createRandom } from "../support/random.ts";
import { type ClusterPlace, openStrictly } from "./open-cluster.ts";

export interface LoadTask {
  readonly place: ClusterPlace;
  readonly bucket: string;
  readonly clients: number;
  /** Start of the common clock of all processes, in nanoseconds. */
  readonly zero: string;
}

export interface LoadRound {
  readonly log: string;
  readonly seed: number;
  /** Name of the process, which makes its values unique. */
  readonly name: string;
  readonly prefix: string;
  readonly keys: readonly string[];
  /** Milliseconds for which all clients use the same few keys, before they use the next keys. */
  readonly pace: number;
}

export type ToLoad =
  | { readonly say: "run"; readonly round: LoadRound }
  | { readonly say: "stop" }
  /** Starts a garbage collection: only this process can remove its own orphaned intents. */
  | { readonly say: "sweep" };

/** Counts since the start of the round. */
export interface LoadCounts {
  readonly writes: number;
  readonly refusals: number;
  /** Duration of the longest refused operation, in milliseconds. */
  readonly longestRefusal: number;
  readonly lastRefusal: string;
}

export type FromLoad =
  | { readonly said: "ready" | "swept" }
  | { readonly said: "counts" | "done"; readonly counts: LoadCounts };

const reportMilliseconds = 50;

const task = JSON.parse(process.argv[2]!) as LoadTask;
const zero = BigInt(task.zero);
// A monotonic clock, the same for all processes of the machine.
const now = () => Number(process.hrtime.bigint() - zero);
const store = await openStrictly(task.place);
const target = bindingTarget(store.bucket(task.bucket));
let isStopped = true;

async function run({ log: path, seed, name, prefix, keys, pace }: LoadRound): Promise<void> {
  const log = openLog(path);
  const random = createRandom(seed);
  const counts = { writes: 0, refusals: 0, longestRefusal: 0, lastRefusal: "" };
  let names = 0;
  // Half of the small objects become blobs, which faults may lose or leave behind.
  const newName = (shape: string) =>
    `${shape === "small" && random.below(2) === 0 ? "file" : shape} ${name}.${names++}`;
  const begun = Date.now();
  const watched = countOperations(target, counts);
  async function work(): Promise<void> {
    const client = { target: watched, log, random, now, newName, prefix, keys, seen: new Map() };
    while (!isStopped) {
      const first = Math.floor((Date.now() - begun) / pace);
      await doOne(client, Math.min(first, keys.length - wanted));
    }
  }
  isStopped = false;
  const reporting = setInterval(() => send({ said: "counts", counts }), reportMilliseconds);
  await Promise.all(Array.from({ length: task.clients }, work));
  clearInterval(reporting);
  log.close();
  send({ said: "done", counts });
}

/** Returns a target that counts the operations on the given target. */
function countOperations(
  target: Target,
  counts: { -readonly [name in keyof LoadCounts]: LoadCounts[name] },
): Target {
  async function counted<T>(work: Promise<T>): Promise<T> {
    const begun = Date.now();
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof StoreError) || error.reason !== "ServiceUnavailable") throw error;
      counts.refusals++;
      counts.longestRefusal = Math.max(counts.longestRefusal, Date.now() - begun);
      counts.lastRefusal = error.message;
      throw new NoAnswer(error.message);
    }
  }
  return {
    takesSmallParts: target.takesSmallParts,
    get: (key) => counted(target.get(key)),
    head: (key) => counted(target.head(key)),
    list: (prefix, startAfter, limit) => counted(target.list(prefix, startAfter, limit)),
    async put(key, name, condition) {
      const isStored = await counted(target.put(key, name, condition));
      if (isStored) counts.writes++;
      return isStored;
    },
    async delete(keys) {
      await counted(target.delete(keys));
      counts.writes++;
    },
  };
}

function send(message: FromLoad): void {
  process.send!(message);
}

process.on("message", (message: ToLoad) => {
  if (message.say === "stop") isStopped = true;
  else if (message.say === "sweep") store.engine.sweep().then(() => send({ said: "swept" }), fail);
  else run(message.round).catch(fail);
});
function fail(error: unknown): never {
  console.error(error);
  process.exit(1);
}
// Exit when the parent process ends, for any reason.
process.once("disconnect", () => process.exit());
send({ said: "ready" });
