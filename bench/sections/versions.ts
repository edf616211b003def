// Section "versions": what the history of a versioned bucket costs: listings of current objects beside
// many noncurrent versions, reads and listings as of a time, and restoring deleted objects.
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createEngine } from "../../src/engine/create.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { Mutation, Records } from "../../src/engine/records.ts";
import { openLocal } from "../../src/local/open.ts";
import { figure, interleave, perSecond, type Round, ratio } from "../measure.ts";
import { type Context, makeRow, random, type Section, sameCount } from "../section.ts";

export const versions: Section = {
  name: "versions",
  description: "lists beside noncurrent versions, reads and lists as of a time, restoring deleted objects",
  run,
};

const page = 1000;
const bucket = "versioned";
/** Versions of a key are a minute apart, starting at this time. */
const firstTime = Date.UTC(2024, 0, 1);
const minute = 60_000;

interface VersionedStore {
  readonly engine: Engine;
  readonly keys: number;
  /** A time at which half of the versions existed. */
  readonly middle: number;
}

async function run(context: Context): Promise<void> {
  const { quick } = context;
  const deep = await prepare(context, "deep", quick ? 2000 : 10_000, 101);
  const shallow = await prepare(context, "shallow", quick ? 2000 : 10_000, 2);
  await compareTimes(context, "list, 100 noncurrent versions of each key : 1", 1.5, [
    listPages(context, deep),
    listPages(context, shallow),
  ]);
  await deep.engine.close();
  await shallow.engine.close();

  const wide = await prepare(context, "wide", quick ? 20_000 : 1_000_000, 10);
  const { middle } = wide;
  await compareTimes(context, "list as of a time : current", 2, [
    listPages(context, wide, middle),
    listPages(context, wide),
  ]);
  await compareTimes(context, "get as of a time : current", 2, [
    gets(context, wide, middle),
    gets(context, wide),
  ]);
  await wide.engine.close();
  await restore(context, quick ? 5000 : 100_000);
}

/** Fills a bucket through the port, in large commits, because puts would take hours. */
async function prepare(
  context: Context,
  name: string,
  keys: number,
  perKey: number,
): Promise<VersionedStore> {
  const directory = join(context.directory, name);
  mkdirSync(directory);
  const { records, blobs } = await openLocal(directory);
  const engine = createEngine({ records, blobs });
  await engine.createBucket(bucket);
  await engine.changeSettings(bucket, { versioning: "on" });
  // All versions of a page of keys at once: neighbours in the index are written together.
  for (let first = 0; first < keys; first += page) {
    if (first % 100_000 === 0)
      context.progress(`${perKey} versions of keys from ${first.toLocaleString("en")}`);
    for (let version = 0; version < perKey; version++) {
      await putVersions(records, first, Math.min(page, keys - first), version);
    }
  }
  return { engine, keys, middle: firstTime + (perKey / 2) * minute };
}

async function putVersions(records: Records, first: number, count: number, version: number): Promise<void> {
  const mutations = Array.from(
    { length: count },
    (_, i): Mutation => ({
      kind: "put object",
      body: { storage: "inline", bytes: new Uint8Array() },
      record: {
        key: keyOf(first + i),
        version: randomBytes(16).toString("hex"),
        size: 0,
        etag: "d41d8cd98f00b204e9800998ecf8427e",
        uploaded: firstTime + version * minute,
        checksums: { md5: Buffer.from("d41d8cd98f00b204e9800998ecf8427e", "hex") },
        httpMetadata: { contentType: "text/plain" },
        customMetadata: new Map(),
        storageClass: "Standard",
        isVersioned: true,
      },
    }),
  );
  const outcome = await records.commit(bucket, { mutations, protection: { versioning: "on" } });
  if (outcome !== "committed") throw new Error("The versions could not be prepared.");
}

function keyOf(index: number): string {
  return `folder/${String(index).padStart(9, "0")}`;
}

function listPages(context: Context, { engine, keys }: VersionedStore, time?: number): Round {
  return () =>
    perSecond({ lanes: 1, seconds: context.pace.seconds }, async () => {
      const found = await engine.list(bucket, { startAfter: keyOf(random(keys - page)), limit: page, time });
      sameCount(found.objects.length, page, "objects in a page");
    });
}

function gets(context: Context, { engine, keys }: VersionedStore, time?: number): Round {
  return () =>
    perSecond({ lanes: 16, seconds: context.pace.seconds }, async () => {
      const { outcome } = await engine.get(bucket, keyOf(random(keys)), { time });
      if (outcome !== "found") throw new Error("An object was not found.");
    });
}

/** Measures both in alternating rounds and adds a row with the ratio of their times. */
async function compareTimes(context: Context, what: string, atMost: number, rounds: Round[]): Promise<void> {
  context.progress(what);
  const [first, second] = await interleave(context.pace.rounds, rounds);
  const times = second!.rounds.map((rate, index) => rate / (first!.rounds[index] ?? Number.NaN));
  const { low, high } = figure(times);
  context.row(
    makeRow({ what: `${what}, in time`, unit: "times", bar: { atMost } }, [
      { median: ratio(second!, first!), low, high, rounds: times },
    ]),
  );
}

async function restore(context: Context, objects: number): Promise<void> {
  const { engine } = await prepare(context, "restore", objects, 1);
  const keys = Array.from({ length: objects }, (_, i) => keyOf(i));
  const before = Date.now();
  for (let i = 0; i < objects; i += page) await engine.delete(bucket, keys.slice(i, i + page));
  context.progress(`restoring ${objects.toLocaleString("en")} deleted objects`);
  const begin = performance.now();
  let restored = 0;
  for (let cursor: string | undefined; ; ) {
    const done = await engine.restorePage(bucket, { time: before - 1, cursor });
    restored += done.restored.length;
    cursor = done.cursor;
    if (cursor === undefined) break;
  }
  sameCount(restored, objects, "restored objects");
  const what = `restore of ${objects.toLocaleString("en")} deleted objects`;
  const bar = { atMost: 60_000 };
  context.row(makeRow({ what, unit: "ms", bar }, [figure([performance.now() - begin])]));
  await engine.close();
}
