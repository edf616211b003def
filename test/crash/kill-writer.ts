// The process that is killed: several clients write objects of every kind at once, and each says, before a write,
// what it is about to do and, once it is acknowledged, that it was.
import { openStore } from "../../src/index.ts";
import { createRandom } from "../support/random.ts";
import { bytesOf, KiB, MiB, streamOf, type Value } from "./bodies.ts";
import { createClient, type Turn } from "./kill-client.ts";

export interface WriterTask {
  readonly directory: string;
  readonly buckets: readonly string[];
  readonly seed: number;
  /** Makes the names of this process's values its own. */
  readonly round: number;
}

/** What it says of a write: a line of JSON each. A value of null is a delete. */
export interface WriteReport {
  readonly said: "trying" | "done" | "refused";
  /** Of the write: its own in its round. */
  readonly id: number;
  readonly bucket: string;
  readonly keys: readonly string[];
  readonly value: Value | null;
}

/** What it says of an upload in flight: a part was acknowledged, or somebody is about to end it. */
export interface UploadReport {
  readonly said: "part" | "ending";
  readonly bucket: string;
  readonly key: string;
  readonly upload: string;
  /** What the whole will be, in how large pieces; the etag of this one. */
  readonly value: Value;
  readonly partSize: number;
  readonly number: number;
  readonly etag: string;
}

export type Report = WriteReport | UploadReport;

/** The keys a client has for itself, and those everybody writes to. */
const keysEach = 4;
const sharedKeys = 3;
const clients = 12;
const sizes = [0, 1, 700, 4 * KiB, 4 * KiB + 1, 20 * KiB, 64 * KiB, 64 * KiB + 1];

const task = JSON.parse(process.argv[2]!) as WriterTask;
const store = await openStore(task.directory);
let writes = 0;
await Promise.all(Array.from({ length: clients }, (_, client) => writeOn(client)));

async function writeOn(index: number): Promise<never> {
  const random = createRandom(task.seed + index);
  const name = task.buckets[index % task.buckets.length]!;
  const own = Array.from({ length: keysEach }, (_, i) => `client ${index}/key ${i}`);
  const shared = Array.from({ length: sharedKeys }, (_, i) => `shared/key ${i}`);
  const client = createClient(store.bucket(name), name, () => writes++);
  for (let n = 0; ; n++) {
    const value = { name: `${task.round}.${index}.${n}`, size: random.pick(sizes) };
    if (random.below(30) === 0) value.size = MiB;
    const key = random.pick(own);
    if (random.below(500) === 0) await store.sweep();
    else if (random.below(6) === 0) await writeShared({ client, random, key: random.pick(shared), value });
    else await writeOwn({ client, random, key, value }, own);
  }
}

/** Others write to the same key at the same time: any of them may be the last. */
async function writeShared({ client, random, key, value }: Turn): Promise<void> {
  switch (random.below(4)) {
    case 0:
      return client.remove([key]);
    case 1:
      return client.create(key, value);
    default:
      return client.put(key, value, bytesOf(key, value));
  }
}

async function writeOwn(turn: Turn, own: readonly string[]): Promise<void> {
  const { client, random, key, value } = turn;
  switch (random.below(14)) {
    case 0:
      return client.remove([key]);
    case 1:
      return client.remove(own.slice(0, random.between(2, own.length)));
    case 2:
    case 3:
      return client.putParts(turn);
    case 4:
      return client.abandonUpload(turn);
    case 5:
      return client.failStream(turn);
    case 6:
      return client.replaceKnown(turn);
    case 7:
      return client.createKnown(turn);
    default: {
      const bytes = bytesOf(key, value);
      return client.put(key, value, random.below(2) === 0 ? bytes : streamOf(bytes));
    }
  }
}
