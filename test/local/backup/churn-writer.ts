// A process that continuously writes to a data directory: sequences of puts and deletes, aborted
// uploads, and created and deleted buckets. It reports its progress to its parent.
import { openStore, type StoreBucket } from "../../../src/index.ts";
import { bytesOf, KiB } from "../../support/bodies.ts";
import { type Reached, stepOf } from "./lanes.ts";

export interface ChurnTask {
  readonly directory: string;
  /** Bucket and name of each lane. A lane is a sequence of writes. */
  readonly lanes: readonly (readonly [bucket: string, lane: string])[];
  /** Name prefix of the buckets that the process creates and deletes. */
  readonly passing: string;
}

const { directory, lanes, passing } = JSON.parse(process.argv[2]!) as ChurnTask;
const store = await openStore(directory);
const reached = new Map<string, Reached>();

async function write(bucket: StoreBucket, lane: string): Promise<never> {
  for (let number = 1; ; number++) {
    reached.set(lane, { begun: number, acknowledged: number - 1 });
    const { key, value, inParts } = stepOf(lane, number);
    if (value === null) await bucket.delete(key);
    else if (inParts) await putParts(bucket, key, bytesOf(key, value), number);
    else await bucket.put(key, bytesOf(key, value), { customMetadata: { number: String(number) } });
    reached.set(lane, { begun: number, acknowledged: number });
    if (number % 8 === 0) await giveUpUpload(bucket, `${lane}/given up`, number);
  }
}

async function putParts(bucket: StoreBucket, key: string, bytes: Buffer, number: number): Promise<void> {
  const upload = await bucket.createMultipartUpload(key, { customMetadata: { number: String(number) } });
  const size = 48 * KiB;
  const parts = [];
  for (let part = 0; part * size < bytes.length; part++)
    parts.push(await upload.uploadPart(part + 1, bytes.subarray(part * size, (part + 1) * size)));
  await upload.complete(parts);
}

async function giveUpUpload(bucket: StoreBucket, key: string, number: number): Promise<void> {
  const upload = await bucket.createMultipartUpload(key);
  await upload.uploadPart(1, bytesOf(key, { name: String(number), size: 20 * KiB }));
  await upload.abort();
}

async function comeAndGo(prefix: string): Promise<never> {
  for (let number = 0; ; number++) {
    const name = `${prefix}-${number}`;
    await store.createBucket(name);
    const bucket = store.bucket(name);
    await bucket.put("large", bytesOf("large", { name, size: 30 * KiB }));
    await bucket.delete("large");
    await store.deleteBucket(name);
  }
}

process.on("message", () => process.send!([...reached]));
process.on("disconnect", () => process.exit());
const all = lanes.map(([bucket, lane]) => write(store.bucket(bucket), lane));
process.send!("writing");
await Promise.all([...all, comeAndGo(passing)]);
