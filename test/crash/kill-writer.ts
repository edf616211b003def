// The process that is killed: writes objects of every kind at once and says, before each write, what it is
// about to do and, once it is acknowledged, that it was.
import { openStore, type StoreBucket } from "../../src/index.ts";
import { createRandom, type Random } from "../support/random.ts";
import { bytesOf, KiB, MiB, streamOf, type Value } from "./bodies.ts";
import { say } from "./killed.ts";

export interface WriterTask {
  readonly directory: string;
  readonly buckets: readonly string[];
  readonly seed: number;
  /** Makes the names of this process's values its own. */
  readonly round: number;
}

/** What it says: a line of JSON each. A value of null is a delete. */
export interface Report {
  readonly said: "trying" | "done";
  readonly bucket: string;
  readonly keys: readonly string[];
  readonly value: Value | null;
}

const writers = 10;
const keysEach = 4;

const task = JSON.parse(process.argv[2]!) as WriterTask;
const store = await openStore(task.directory);
await Promise.all(Array.from({ length: writers }, (_, writer) => writeOn(writer)));

async function writeOn(writer: number): Promise<never> {
  const random = createRandom(task.seed + writer);
  const name = task.buckets[writer % task.buckets.length]!;
  const bucket = store.bucket(name);
  const keys = Array.from({ length: keysEach }, (_, i) => `writer ${writer}/key ${i}`);
  const reporting = reporter(name);
  for (let n = 0; ; n++) {
    await writeOnce({ bucket, random, keys, name: `${task.round}.${n}`, reporting });
  }
}

interface Turn {
  readonly bucket: StoreBucket;
  readonly random: Random;
  readonly keys: readonly string[];
  readonly name: string;
  readonly reporting: ReturnType<typeof reporter>;
}

/** Does a write between the two reports of it. */
function reporter(bucket: string) {
  return async (keys: readonly string[], value: Value | null, write: () => Promise<unknown>) => {
    say({ said: "trying", bucket, keys, value } satisfies Report);
    await write();
    say({ said: "done", bucket, keys, value } satisfies Report);
  };
}

async function writeOnce(turn: Turn): Promise<void> {
  const { bucket, random, keys, name, reporting } = turn;
  const key = random.pick(keys);
  switch (random.below(10)) {
    case 0:
      return reporting([key], null, () => bucket.delete(key));
    case 1: {
      const some = keys.slice(0, random.between(2, keysEach));
      return reporting(some, null, () => bucket.delete(some));
    }
    case 2:
      return putParts(turn, key);
    case 3:
      return abortUpload(turn, key);
    case 4:
      return failStream(turn, key);
    default: {
      const size = random.pick([0, 1, 700, 4 * KiB, 4 * KiB + 1, 64 * KiB, 64 * KiB, MiB]);
      const bytes = bytesOf(key, { name, size });
      const body = random.below(2) === 0 ? bytes : streamOf(bytes);
      return reporting([key], { name, size }, () => bucket.put(key, body));
    }
  }
}

async function putParts({ bucket, random, name, reporting }: Turn, key: string): Promise<void> {
  const partSize = random.pick([KiB, 64 * KiB, 300 * KiB]);
  const value = { name, size: partSize * 2 + random.between(1, partSize) };
  const bytes = bytesOf(key, value);
  const upload = await bucket.createMultipartUpload(key);
  const parts = await Promise.all(
    [1, 2, 3].map((number) =>
      upload.uploadPart(number, bytes.subarray((number - 1) * partSize, number * partSize)),
    ),
  );
  await reporting([key], value, () => upload.complete(parts));
}

/** Never completed, and at times never aborted either: its bytes belong to no object. */
async function abortUpload({ bucket, random, name }: Turn, key: string): Promise<void> {
  const upload = await bucket.createMultipartUpload(key);
  await upload.uploadPart(1, bytesOf(key, { name, size: 64 * KiB }));
  await upload.uploadPart(1, bytesOf(key, { name, size: 65 * KiB }));
  if (random.below(4) > 0) await upload.abort();
}

/** A put whose stream fails is none: what was there stays. */
async function failStream({ bucket, random, name }: Turn, key: string): Promise<void> {
  const end = random.pick([KiB, 64 * KiB, 500 * KiB]);
  const stream = streamOf(bytesOf(key, { name, size: MiB }), {
    before(offset) {
      if (offset >= end) throw new Error("the sender is gone");
    },
  });
  await bucket.put(key, stream).then(
    () => {
      throw new Error("a put of a stream that failed was acknowledged");
    },
    (error: unknown) => {
      if (!String(error).includes("the sender is gone")) throw error;
    },
  );
}
