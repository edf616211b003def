// Section "cluster-model": bytes, index depth and costs at three sizes on a real PostgreSQL.
// A growth law fitted to the results predicts them for 10^9 and 10^12 objects.
import { randomBytes } from "node:crypto";
import type pg from "pg";
import type { Engine } from "../../src/engine/engine.ts";
import { fill, objectRecord } from "../cluster/bare-rows.ts";
import { fitLaw, type Growth, lawLines, usualServer } from "../cluster/growth.ts";
import { openAt, openClients, startPlace } from "../cluster/place.ts";
import { figure, interleave, perSecond } from "../measure.ts";
import {
  type Context,
  KiB,
  makeRow,
  present,
  random,
  type Section,
  sameCount,
  type Unit,
} from "../section.ts";

const page = 1000;
const predicted = [1e9, 1e12];

export const clusterModel: Section = {
  name: "cluster-model",
  description: "bytes, index depth and cost at 10^4 to 10^6 objects, extrapolated to 10^12",
  run,
};

async function run(context: Context): Promise<void> {
  const sizes = context.quick ? [10_000, 100_000] : [10_000, 100_000, 1_000_000];
  const place = await startPlace(context.directory, "without S3");
  try {
    const location = await place.newLocation();
    const [client] = await openClients(location.records, 1);
    const { engine } = await openAt(location);
    const measured: Growth[] = [];
    for (const objects of sizes) {
      const name = `objects-${objects}`;
      context.progress(`filling a bucket with ${objects.toLocaleString("en")} objects`);
      await engine.createBucket(name);
      measured.push(await grown(context, client!, name, objects));
      await costs(context, engine, name, objects);
    }
    const { rows } = await client!.query<{ bytes: string }>(
      "SELECT pg_relation_size('store.objects_pkey') AS bytes",
    );
    const all = sizes.reduce((sum, objects) => sum + objects, 0);
    const law = fitLaw(measured, (Number(rows[0]!.bytes) * sizes.at(-1)!) / all);
    for (const line of lawLines(law, usualServer, predicted)) context.note(line);
    await engine.close();
    await client!.end();
  } finally {
    await place.stop();
  }
}

/** Fills a bucket; returns the bytes it added and the index depth. */
async function grown(context: Context, client: pg.Client, name: string, objects: number): Promise<Growth> {
  const before = await bytesOf(client);
  const { rows } = await client.query<{ id: string }>("SELECT id FROM store.buckets WHERE name = $1", [name]);
  await fill(client, rows[0]!.id, objects, {
    home: "blob",
    recordOf: (index) => objectRecord(keyOf(index), 1024 * KiB),
  });
  const after = await bytesOf(client);
  const growth = {
    objects,
    tableBytes: after.table - before.table,
    indexBytes: after.index - before.index,
    depth: await depthOf(client, rows[0]!.id, keyOf(objects >> 1)),
  };
  const row = (what: string, unit: Unit, value: number) =>
    context.row(makeRow({ what: `${objects.toLocaleString("en")}: ${what}`, unit }, [figure([value])]));
  row("rows, each", "B", growth.tableBytes / objects);
  row("indexes, each", "B", growth.indexBytes / objects);
  row("index, down to a row", "pages", growth.depth);
  return growth;
}

async function bytesOf(client: pg.Client): Promise<{ table: number; index: number }> {
  const sum = (size: string) => `${size}('store.objects') + ${size}('store.blobs')`;
  const text = `SELECT ${sum("pg_table_size")} AS table, ${sum("pg_indexes_size")} AS index`;
  const { rows } = await client.query<{ table: string; index: string }>(text);
  return { table: Number(rows[0]!.table), index: Number(rows[0]!.index) };
}

/** Returns the index pages of a point read: the pages PostgreSQL reports, minus one row page. */
async function depthOf(client: pg.Client, bucket: string, key: string): Promise<number> {
  const text = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)
    SELECT record FROM store.objects WHERE bucket = ${Number(bucket)} AND key = $1`;
  await client.query(text, [Buffer.from(key)]);
  const { rows } = await client.query<{ "QUERY PLAN": Explained[] }>(text, [Buffer.from(key)]);
  const plan = rows[0]!["QUERY PLAN"][0]!.Plan;
  return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] - 1;
}

interface Explained {
  readonly Plan: { readonly "Shared Hit Blocks": number; readonly "Shared Read Blocks": number };
}

async function costs(context: Context, engine: Engine, bucket: string, objects: number): Promise<void> {
  const work = { lanes: 1, seconds: context.pace.seconds };
  const anyKey = () => keyOf(random(objects - page - 1));
  const body = randomBytes(KiB);
  const operations: Readonly<Record<string, () => Promise<unknown>>> = {
    "point read": async () => present(await engine.head(bucket, anyKey()), "an object"),
    "commit, 1 KiB over one there is": () => engine.put(bucket, anyKey(), body),
    async "page of 1,000"() {
      sameCount((await engine.list(bucket, { startAfter: anyKey() })).objects.length, page, "objects");
    },
  };
  const rounds = Object.values(operations).map(
    (operation) => async () => 1000 / (await perSecond(work, operation)),
  );
  const figures = await interleave(context.pace.rounds, rounds);
  for (const [i, what] of Object.keys(operations).entries()) {
    const row = { what: `${objects.toLocaleString("en")}: ${what}`, lanes: 1, unit: "ms" } as const;
    context.row(makeRow(row, [figures[i]!]));
  }
}

function keyOf(index: number): string {
  return `photos/2026/${String(Math.floor(index / 1000)).padStart(6, "0")}/image-${String(index % 1000).padStart(4, "0")}.jpg`;
}
