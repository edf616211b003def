// Measures the cost of an operation in stores of different sizes. Operations run one at a time, on
// random keys; the stores are measured in alternating rounds.
import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { openStore, type StoreBucket } from "../../src/index.ts";
import type { Line } from "../draw/lines.ts";
import type { LargeStore } from "../large-store.ts";
import { type Figure, interleave, median, type Round, ratio } from "../measure.ts";
import { type Context, KiB, MiB, makeRow, present, random, sameCount } from "../section.ts";

const page = 1000;

/** Repeats an operation for `seconds` and returns its duration in microseconds. */
type Cost = (bucket: StoreBucket, large: LargeStore, seconds: number) => Promise<number>;

const body = Buffer.alloc(KiB, 2);

const costs: Readonly<Record<string, Cost>> = {
  head: each(async (bucket, large) => present(await bucket.head(anyKey(large)), "an object")),
  get: each(async (bucket, large) => present(await bucket.get(anyKey(large)), "an object").arrayBuffer()),
  put: each((bucket, large) => bucket.put(anyKey(large), body)),
  delete: deletes(),
  "list, page of 1,000": each(async (bucket, large) => {
    const startAfter = large.key(random(large.objects - page));
    sameCount((await bucket.list({ startAfter, limit: page })).objects.length, page, "objects");
  }),
  "list, 10 folders": each(async (bucket, { folders }) => {
    sameCount((await bucket.list({ delimiter: "/" })).delimitedPrefixes.length, folders, "folders");
  }),
};

/** Adds the rows and returns the lines for the chart. */
export async function costRows(context: Context, stores: readonly LargeStore[]): Promise<Line[]> {
  // Read the largest store first: read last, it could evict the others from the page cache.
  for (const large of stores.toReversed()) {
    context.progress(`reading the store of ${large.objects.toLocaleString("en")} objects`);
    warm(large);
  }
  context.note(
    "The stores were read into the page cache first; data that does not fit there costs an additional disk read.",
  );
  const opened = await Promise.all(stores.map(({ directory }) => openStore(directory)));
  const lines: Line[] = [];
  for (const [what, cost] of Object.entries(costs)) {
    context.progress(what);
    const rounds = stores.map((large, index): Round => {
      const bucket = opened[index]!.bucket(large.bucket);
      return () => cost(bucket, large, context.pace.seconds);
    });
    const figures = await interleave(context.pace.rounds, rounds);
    for (const [index, { objects }] of stores.entries()) {
      const name = `${what}, of ${objects.toLocaleString("en")}`;
      context.row(makeRow({ what: name, lanes: 1, unit: "µs" }, [figures[index]!]));
    }
    if (stores.length > 1) context.row(grown(what, stores, figures));
    lines.push({ name: what, points: stores.map(({ objects }, i) => [objects, figures[i]!.median]) });
  }
  for (const store of opened) await store.close();
  return lines;
}

function grown(what: string, stores: readonly LargeStore[], figures: readonly Figure[]) {
  const first = figures[0]!;
  const last = figures.at(-1)!;
  const rounds = last.rounds.map((time, index) => time / (first.rounds[index] ?? Number.NaN));
  const times = stores.at(-1)!.objects / stores[0]!.objects;
  const bar = what.startsWith("list") ? ({ atMost: 1.5 } as const) : undefined;
  return makeRow({ what: `${what}, of ${times.toLocaleString("en")} times as many`, unit: "times", bar }, [
    { median: ratio(last, first), low: Math.min(...rounds), high: Math.max(...rounds), rounds },
  ]);
}

/** Returns the median time, because other load on the machine delays some of the operations. */
function each(
  operation: (bucket: StoreBucket, large: LargeStore) => Promise<unknown>,
  afterwards?: (bucket: StoreBucket) => Promise<unknown>,
): Cost {
  return async (bucket, large, seconds) => {
    const times: number[] = [];
    const end = performance.now() + seconds * 1000;
    while (performance.now() < end) {
      const begin = performance.now();
      await operation(bucket, large);
      times.push(performance.now() - begin);
      await afterwards?.(bucket);
    }
    return median(times) * 1000;
  };
}

/** Deletes objects. After each delete, puts the object back outside the measured time. */
function deletes(): Cost {
  let deleted = "";
  return each(
    (bucket, large) => {
      deleted = anyKey(large);
      return bucket.delete(deleted);
    },
    (bucket) => bucket.put(deleted, body),
  );
}

/** Reads the databases into the page cache, because a store in use has its databases there. */
function warm({ directory }: LargeStore): void {
  const buffer = Buffer.alloc(MiB);
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".db")) continue;
    const file = openSync(join(directory, name), "r");
    while (readSync(file, buffer) > 0);
    closeSync(file);
  }
}

function anyKey(large: LargeStore): string {
  return large.key(random(large.objects));
}
