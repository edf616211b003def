// Measures uploads of 10 to 10,000 parts: the cost of a part, of complete, and of ranges of 1 KiB.
import { openStore, type Store, type StoreBucket, type StoreUploadedPart } from "../../src/index.ts";
import type { Line } from "../draw/lines.ts";
import { type Figure, figure, forEach, interleave, median, ratio } from "../measure.ts";
import { type Context, KiB, makeRow, present, random } from "../section.ts";

const body = Buffer.alloc(KiB, 3);
const rounds = 3;

export async function partRows(context: Context, directory: string): Promise<Line[]> {
  const counts = context.quick ? [10, 1000] : [10, 100, 1000, 10_000];
  const store = await openStore(directory);
  await store.createBucket("parts");
  const times: number[][][] = [];
  for (const parts of counts) {
    context.progress(`upload of ${parts.toLocaleString("en")} parts`);
    const own: number[][] = [];
    for (let round = 0; round < rounds; round++)
      own.push(await upload(store.bucket("parts"), keyOf(parts, round), parts));
    times.push(own);
  }
  const lines = ["a part, 64 at once", "complete, for each part"].map((name, index) =>
    addRows(
      context,
      counts,
      name,
      times.map((own) => figure(own.map((one) => one[index]!))),
    ),
  );
  context.progress("ranges of 1 KiB");
  const warm = await interleave(
    context.pace.rounds,
    counts.map((parts) => () => rangesOf(store, parts)),
  );
  await store.close();
  const cold = await firstRanges(directory, counts);
  lines.push(addRows(context, counts, "get of a range of 1 KiB", warm));
  lines.push(addRows(context, counts, "first get of a range after the start", cold));
  const name = `range of 1 KiB, of ${counts.at(-1)!.toLocaleString("en")} parts instead of 10`;
  const grown = { ...warm.at(-1)!, median: ratio(warm.at(-1)!, warm[0]!) };
  context.row(makeRow({ what: name, unit: "times", bar: { atMost: 1.5 } }, [grown]));
  return lines;
}

function keyOf(parts: number, round: number): string {
  return `of-${parts}-${round}`;
}

function addRows(
  context: Context,
  counts: readonly number[],
  name: string,
  figures: readonly Figure[],
): Line {
  for (const [index, parts] of counts.entries()) {
    const what = `upload of ${parts.toLocaleString("en")} parts: ${name}`;
    context.row(makeRow({ what, unit: "µs" }, [figures[index]!]));
  }
  return { name, points: counts.map((parts, index) => [parts, figures[index]!.median]) };
}

/** Returns the microseconds for each part and for completing, divided by the number of parts. */
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
  return [(filled - begin) / parts, (completed - filled) / parts].map((ms) => ms * 1000);
}

/** Returns the median microseconds of ranges of one object, as a client reads it. */
async function rangesOf(store: Store, parts: number): Promise<number> {
  const times: number[] = [];
  for (let read = 0; read < 200; read++) times.push(await readRange(store, keyOf(parts, 0), parts));
  return median(times);
}

/** Returns the microseconds of the first range of each object, whose parts are not cached yet. */
async function firstRanges(directory: string, counts: readonly number[]): Promise<Figure[]> {
  const store = await openStore(directory);
  // Opens the bucket and compiles the code, which is not part of the measured time.
  for (let read = 0; read < 20; read++) await readRange(store, keyOf(counts[0]!, 0), counts[0]!);
  const figures: Figure[] = [];
  for (const parts of counts) {
    const times: number[] = [];
    for (let round = 1; round < rounds; round++)
      times.push(await readRange(store, keyOf(parts, round), parts));
    figures.push(figure(times));
  }
  await store.close();
  return figures;
}

async function readRange(store: Store, key: string, parts: number): Promise<number> {
  const begin = performance.now();
  const range = { offset: random(parts) * KiB, length: KiB };
  await present(await store.bucket("parts").get(key, { range }), key).arrayBuffer();
  return (performance.now() - begin) * 1000;
}
