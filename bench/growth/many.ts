// Measures costs by the number of buckets, access keys and open uploads of a store.
import { setTimeout } from "node:timers/promises";
import { createCredentials } from "../../src/access/keys/credentials.ts";
import { createEngine } from "../../src/engine/create.ts";
import { openLocal } from "../../src/local/open.ts";
import type { Line } from "../draw/lines.ts";
import { figure, forEach, median } from "../measure.ts";
import { type Context, makeRow, present, random, sameCount } from "../section.ts";

const bucket = "many";
const repetitions = 20;
const uploadsPerBucket = 10;
/** Far above the uploads made here: near the limit, they are counted every second. */
const maxUploads = 16_000_000;

/** Adds a row for each number of buckets, keys and uploads, which grow in the same store. */
export async function manyRows(
  context: Context,
  directory: string,
  counts: readonly number[],
): Promise<Line[]> {
  const points = new Map<string, [number, number][]>();
  let made = 0;
  for (const count of counts) {
    context.progress(`${count.toLocaleString("en")} buckets and keys, ten times as many uploads`);
    const begin = performance.now();
    const { records, blobs } = await openLocal(directory);
    const engine = createEngine({ records, blobs, openUploads: maxUploads });
    const opened = performance.now() - begin;
    const credentials = createCredentials(records.documents, new Uint8Array(32), Date.now);
    const keys: string[] = [];
    if (made === 0) await engine.createBucket(bucket);
    const created: number[] = [];
    await forEach(count - made, 16, async (index) => {
      const start = performance.now();
      await engine.createBucket(bucketName(made + index));
      created.push(performance.now() - start);
      keys.push((await credentials.create()).accessKeyId);
    });
    await forEach((count - made) * uploadsPerBucket, 64, (index) =>
      engine.createUpload(bucket, uploadKey(made * uploadsPerBucket + index)),
    );
    made = count;
    const anyKey = () => keys[random(keys.length)]!;
    const costs: Record<string, number> = {
      "open the store": opened * 1000,
      "create a bucket": median(created) * 1000,
      "list all buckets, for each": (await time(() => engine.listBuckets(), 3)) / count,
      "head in any bucket": await time(() => engine.head(bucketName(random(made)), "missing")),
      "list all access keys, for each": (await time(() => credentials.list(), 3)) / count,
      "find any access key": await time(async () => present(await credentials.find(anyKey()), "a key")),
      "list the last 10 of ten times as many uploads": await time(async () => {
        const after = { key: uploadKey(made * uploadsPerBucket - 11) };
        sameCount((await engine.listUploads(bucket, { after, limit: 10 })).uploads.length, 10, "uploads");
      }),
    };
    const sweep = async () => (await timeOnce(() => engine.sweep())) / count;
    costs["first sweep, for each bucket"] = await sweep();
    // Files that changed less than two seconds ago may change again without a new time.
    await setTimeout(2500);
    await sweep();
    costs["sweep of idle buckets, for each"] = await sweep();
    await engine.close();
    for (const [what, cost] of Object.entries(costs)) {
      context.row(
        makeRow({ what: `${what}, of ${count.toLocaleString("en")}`, unit: "µs" }, [figure([cost])]),
      );
      points.set(what, [...(points.get(what) ?? []), [count, cost]]);
    }
  }
  return [...points].map(([name, line]) => ({ name, points: line }));
}

function bucketName(index: number): string {
  return `bucket-${String(index).padStart(7, "0")}`;
}

function uploadKey(index: number): string {
  return `key-${String(index).padStart(8, "0")}`;
}

async function timeOnce(operation: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await operation();
  return (performance.now() - begin) * 1000;
}

async function time(operation: () => Promise<unknown>, rounds = repetitions): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const begin = performance.now();
    await operation();
    times.push(performance.now() - begin);
  }
  return median(times) * 1000;
}
