// Measures rates by concurrency, multipart uploads by number of parts, and memory by open streams.
import { openStore, type StoreBucket, type StoreUploadedPart } from "../../src/index.ts";
import { repeated, streamBucket } from "../bodies.ts";
import type { Held } from "../child.ts";
import type { Line } from "../draw/lines.ts";
import { figure, forEach, interleave, perSecond } from "../measure.ts";
import { type Context, KiB, MiB, makeRow, present, random } from "../section.ts";

const objects = 10_000;
const body = Buffer.alloc(KiB, 3);

export async function concurrencyRows(context: Context, directory: string): Promise<Line[]> {
  const store = await openStore(directory);
  await store.createBucket("wide");
  const bucket = store.bucket("wide");
  await forEach(objects, 256, (index) => bucket.put(`object-${index}`, body));
  const anyKey = () => `object-${random(objects)}`;
  const operations = {
    head: async () => present(await bucket.head(anyKey()), "an object"),
    get: async () => present(await bucket.get(anyKey()), "an object").arrayBuffer(),
    put: () => bucket.put(anyKey(), body),
  };
  const widths = context.quick ? [1, 64, 1024] : [1, 4, 16, 64, 256, 1024];
  const lines: Line[] = [];
  for (const [what, operation] of Object.entries(operations)) {
    context.progress(`${what} at 1 to 1,024 at once`);
    const rounds = widths.map(
      (lanes) => () => perSecond({ lanes, seconds: context.pace.seconds }, operation),
    );
    const figures = await interleave(context.pace.rounds, rounds);
    for (const [index, lanes] of widths.entries()) {
      context.row(makeRow({ what: `${what}, at once`, size: KiB, lanes, unit: "op/s" }, [figures[index]!]));
    }
    lines.push({ name: what, points: widths.map((lanes, index) => [lanes, figures[index]!.median]) });
  }
  await store.close();
  return lines;
}

/** Measures uploads of 10 to 10,000 parts: the cost of a part, of complete, and of a range read. */
export async function partRows(context: Context, directory: string): Promise<Line[]> {
  const store = await openStore(directory);
  await store.createBucket("parts");
  const bucket = store.bucket("parts");
  const counts = context.quick ? [10, 1000] : [10, 100, 1000, 10_000];
  const lines = ["a part, 64 at once", "complete, for each part", "get of a range of 1 KiB"].map((name) => ({
    ...{ name, points: [] as [number, number][] },
  }));
  for (const parts of counts) {
    context.progress(`upload of ${parts.toLocaleString("en")} parts`);
    const times: number[][] = [];
    for (let round = 0; round < 3; round++) times.push(await upload(bucket, `of-${parts}`, parts));
    for (const [index, line] of lines.entries()) {
      const measured = figure(times.map((one) => one[index]!));
      const what = `upload of ${parts.toLocaleString("en")} parts: ${line.name}`;
      context.row(makeRow({ what, unit: "µs" }, [measured]));
      line.points.push([parts, measured.median]);
    }
  }
  await store.close();
  return lines;
}

async function upload(bucket: StoreBucket, key: string, parts: number): Promise<number[]> {
  const made = await bucket.createMultipartUpload(key);
  const uploaded: StoreUploadedPart[] = [];
  const begin = performance.now();
  await forEach(parts, 64, async (index) => {
    uploaded.push(await made.uploadPart(index + 1, body));
  });
  const filled = performance.now();
  await made.complete(uploaded);
  const completed = performance.now();
  const reads = 100;
  for (let i = 0; i < reads; i++) {
    const range = { offset: random(parts) * KiB, length: KiB };
    await present(await bucket.get(key, { range }), key).arrayBuffer();
  }
  const read = performance.now();
  return [(filled - begin) / parts, (completed - filled) / parts, (read - completed) / reads].map(
    (ms) => ms * 1000,
  );
}

/** Measures the memory of open streams, in a new process for each number of streams. */
export async function streamRows(context: Context, directory: string): Promise<Line[]> {
  const store = await openStore(directory);
  await store.createBucket(streamBucket);
  await store.bucket(streamBucket).put("held", repeated(8 * MiB));
  await store.close();
  const counts = context.quick ? [16, 256] : [16, 64, 256, 1024];
  const lines: Line[] = [];
  for (const kind of ["get", "put"] as const) {
    const points: [number, number][] = [];
    for (const streams of counts) {
      context.progress(`${streams} streams of ${kind} held open`);
      const heard: number[] = [];
      for (let round = 0; round < 3; round++) {
        const child = context.children.start({ kind: `hold ${kind}`, directory, streams });
        heard.push(((await child.said()) as Held).KiBEach);
        await child.ended();
      }
      const measured = figure(heard);
      context.row(makeRow({ what: `${kind} held open, each`, lanes: streams, unit: "KiB" }, [measured]));
      points.push([streams, (measured.median * streams) / KiB]);
    }
    lines.push({ name: kind, points });
  }
  return lines;
}
