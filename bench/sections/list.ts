// Section "list": pages of 1,000 keys and pages of folders, in a small and in a large bucket.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openStore, type StoreBucket } from "../../src/index.ts";
import { keysInFolders, type LargeStore } from "../large-store.ts";
import { directoryPages, type Limit } from "../limits.ts";
import { type Figure, forEach, interleave, perSecond, type Round, ratio } from "../measure.ts";
import { type Context, makeRow, random, type Section, sameCount } from "../section.ts";

const page = 1000;
const folders = 10;

export const list: Section = {
  name: "list",
  description: "pages of 1,000 keys and of 10 folders, in a small bucket and in the large store",
  run,
};

async function run(context: Context): Promise<void> {
  const { directory } = context;
  mkdirSync(join(directory, "store"));
  const store = await openStore(join(directory, "store"));
  const few = await filledBucket("few", 10_000);
  const tens = await filledBucket("tens", folders * 10);
  const large = await context.largeStore?.();
  if (large === undefined)
    context.note("The large store is skipped; name this section with --only to include it.");
  const largeStore = large && (await openStore(large.directory));
  const many = large && largeStore?.bucket(large.bucket);

  for (const lanes of context.pace.lanes) {
    const rounds = [flatPages(context, few, keysInFolders(folders, 10_000), 10_000, lanes)];
    if (many && large) rounds.push(flatPages(context, many, large.key, large.objects, lanes));
    await compared(context, {
      names: ["flat, 10,000 keys", `flat, ${count(large)} keys`],
      ratioName: "flat, many keys : few, in time",
      atMost: 1.5,
      lanes,
      rounds,
      limit: directoryPages(directory, page, context.pace.seconds),
    });
  }
  for (const lanes of context.pace.lanes) {
    const rounds = [folderPages(context, tens, lanes)];
    if (many) rounds.push(folderPages(context, many, lanes));
    await compared(context, {
      names: ["10 folders of 10 keys", `10 folders of ${count(large, folders)} keys`],
      ratioName: "folders, many keys : few, in time",
      atMost: 2,
      lanes,
      rounds,
      limit: directoryPages(directory, folders, context.pace.seconds),
    });
  }
  await largeStore?.close();
  await store.close();

  async function filledBucket(name: string, objects: number): Promise<StoreBucket> {
    context.progress(`${objects.toLocaleString("en")} objects in "${name}"`);
    await store.createBucket(name);
    const bucket = store.bucket(name);
    const key = keysInFolders(folders, objects);
    await forEach(objects, 256, (index) => bucket.put(key(index), "x"));
    return bucket;
  }
}

function count(large: LargeStore | undefined, parts = 1): string {
  return ((large?.objects ?? 0) / parts).toLocaleString("en");
}

interface Pages {
  /** Row names: of the small bucket, then of the large bucket. */
  readonly names: readonly [string, string];
  readonly ratioName: string;
  readonly atMost: number;
  readonly lanes: number;
  readonly rounds: readonly Round[];
  readonly limit: Limit;
}

/** Measures the small and the large bucket in alternating rounds, and the ratio of their times. */
async function compared(context: Context, pages: Pages): Promise<void> {
  const { lanes, limit } = pages;
  context.progress(`${pages.names[0]} ${lanes}`);
  const figures = await interleave(context.pace.rounds, [limit.round, ...pages.rounds]);
  const [byHand, few, many] = figures as [Figure, Figure, Figure | undefined];
  const row = { lanes, unit: "page/s" } as const;
  context.row(makeRow({ ...row, what: pages.names[0] }, [few, byHand], [limit]));
  if (many === undefined) return;
  context.row(makeRow({ ...row, what: pages.names[1] }, [many, byHand], [limit]));
  const times = few.rounds.map((rate, index) => rate / (many.rounds[index] ?? Number.NaN));
  const bar = { atMost: pages.atMost };
  const middle = ratio(few, many);
  context.row(
    makeRow({ what: pages.ratioName, lanes, unit: "times", bar }, [
      { median: middle, low: Math.min(...times), high: Math.max(...times), rounds: times },
    ]),
  );
}

/** Lists pages that start at random keys. */
function flatPages(
  context: Context,
  bucket: StoreBucket,
  key: (index: number) => string,
  objects: number,
  lanes: number,
): Round {
  return () =>
    perSecond({ lanes, seconds: context.pace.seconds }, async () => {
      const found = await bucket.list({ startAfter: key(random(objects - page)), limit: page });
      sameCount(found.objects.length, page, "objects in a page");
    });
}

function folderPages(context: Context, bucket: StoreBucket, lanes: number): Round {
  return () =>
    perSecond({ lanes, seconds: context.pace.seconds }, async () => {
      const found = await bucket.list({ delimiter: "/", limit: page });
      sameCount(found.delimitedPrefixes.length, folders, "folders in a page");
    });
}
