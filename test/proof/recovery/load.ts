// The process that is killed while it uses a large bucket: clients put and delete objects, each
// with its own keys, and report each write before it starts and after it is acknowledged.
import { openStore } from "../../../src/index.ts";
import { readTask, say } from "../../../src/prove/kill/run-until-killed.ts";
import { bytesOf, KiB, type Value } from "../../support/bodies.ts";
import { createRandom } from "../../support/random.ts";
import { keyOf, largeBucket } from "./store.ts";

export interface LoadTask {
  readonly directory: string;
  readonly objects: number;
  readonly seed: number;
  readonly round: number;
}

/** Report of a write. A value of null is a delete. */
export interface LoadReport {
  readonly said: "trying" | "done";
  readonly key: string;
  readonly value: Value | null;
}

const clients = 32;
const sizes = [100, 100, 3 * KiB, 20 * KiB, 64 * KiB];

const { directory, objects, seed, round } = readTask<LoadTask>();
const store = await openStore(directory);
const bucket = store.bucket(largeBucket);
await Promise.all(Array.from({ length: clients }, (_, client) => work(client)));

async function work(client: number): Promise<never> {
  const random = createRandom(seed + client);
  // 5 % of the keys are beyond the existing objects, so they are new.
  const mine = Math.ceil((objects * 1.05) / clients);
  for (let n = 0; ; n++) {
    const key = keyOf(random.below(mine) * clients + client);
    const value =
      random.below(10) === 0 ? null : { name: `${round}.${client}.${n}`, size: random.pick(sizes) };
    say({ said: "trying", key, value } satisfies LoadReport);
    if (value === null) await bucket.delete(key);
    else await bucket.put(key, bytesOf(key, value));
    say({ said: "done", key, value } satisfies LoadReport);
  }
}
