// Section "cluster-reads": bodies from the body cache compared with a local store and with the
// cluster without a cache, and reads of records compared with the bare SQL statement.
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type pg from "pg";
import type { Engine } from "../../src/engine/engine.ts";
import { keyBytes } from "../../src/model/key.ts";
import { openEngine } from "../../src/open.ts";
import { openAt, openClients, startPlace } from "../cluster/place.ts";
import { readBody } from "../cluster/read-body.ts";
import { perSecond, type Work } from "../measure.ts";
import { type Context, compare, KiB, MiB, present, random, type Section, sameCount } from "../section.ts";

const connections = 32;
const bodies = 64;
const records = 1000;
const name = "bench";

export const clusterReads: Section = {
  name: "cluster-reads",
  description: "bodies from a cluster's cache compared with a local store, records with bare SELECTs",
  run,
};

async function run(context: Context): Promise<void> {
  context.progress("starting PostgreSQL and the S3 engine");
  const place = await startPlace(context.directory);
  context.note(`Bytes on ${place.s3Name}. Records in PostgreSQL. A pool of ${connections}.`);
  try {
    const location = { ...(await place.newLocation()), pool: connections };
    const clients = await openClients(location.records, connections);
    const directory = join(context.directory, "local");
    mkdirSync(directory);
    const local = (await openEngine(directory)).engine;
    const plain = (await openAt(location)).engine;
    const cache = { directory: join(context.directory, "cache"), size: 1024 * MiB };
    const cached = (await openAt({ ...location, cache })).engine;
    for (const engine of [local, plain]) await engine.createBucket(name);
    await bodyReads(context, { cached, plain, local });
    await recordReads(context, plain, clients);
    for (const engine of [local, plain, cached]) await engine.close();
    await Promise.all(clients.map((client) => client.end()));
  } finally {
    await place.stop();
  }
}

/** Returns the processor time of one operation in microseconds, of all threads of this process. */
async function processorTime(work: Work, operation: () => Promise<void>): Promise<number> {
  let operations = 0;
  const before = process.cpuUsage();
  await perSecond(work, async () => {
    await operation();
    operations++;
  });
  const { user, system } = process.cpuUsage(before);
  return (user + system) / operations;
}

interface Engines {
  readonly cached: Engine;
  readonly plain: Engine;
  readonly local: Engine;
}

async function bodyReads(context: Context, { cached, plain, local }: Engines): Promise<void> {
  for (const size of [64 * KiB, MiB, 16 * MiB]) {
    const count = Math.min(bodies, (64 * MiB) / size);
    const key = (index: number) => `body-${size}-${index}`;
    context.progress(`${count} bodies of ${size} bytes on both sides`);
    for (let i = 0; i < count; i++) {
      const body = randomBytes(size);
      await Promise.all([local.put(name, key(i), body), plain.put(name, key(i), body)]);
      await readBody(cached, name, key(i), size);
    }
    for (const lanes of [1, 8]) {
      const work = { lanes, seconds: context.pace.seconds };
      const gets = (engine: Engine) => () =>
        perSecond(work, () => readBody(engine, name, key(random(count)), size));
      await compare(context, {
        ...{ what: "get from the body cache", size, lanes, unit: "MiB/s" },
        round: gets(cached),
        limits: [
          { name: "a local store", round: gets(local) },
          { name: "without a cache", round: gets(plain) },
        ],
        ...(size === MiB ? { bar: { atLeast: 0.7, of: "a local store" } } : {}),
      });
    }
    const times = (engine: Engine) => () =>
      processorTime({ lanes: 8, seconds: context.pace.seconds }, () =>
        readBody(engine, name, key(random(count)), size),
      );
    await compare(context, {
      ...{ what: "processor time of a get in Store's process", size, lanes: 8, unit: "µs" },
      round: times(cached),
      limits: [
        { name: "a local store", round: times(local) },
        { name: "without a cache", round: times(plain) },
      ],
    });
  }
}

async function recordReads(context: Context, engine: Engine, clients: readonly pg.Client[]): Promise<void> {
  const body = randomBytes(KiB);
  const key = (index: number) => `record-${index}`;
  for (let i = 0; i < records; i++) await engine.put(name, key(i), body);
  const { rows } = await clients[0]!.query<{ id: string }>(
    "SELECT id FROM store.buckets WHERE name = 'bench'",
  );
  const { id } = rows[0]!;
  for (const lanes of [1, connections]) {
    const work = { lanes, seconds: context.pace.seconds };
    const selects = (columns: "record" | "record, inline") => () =>
      perSecond(work, async (lane) => {
        const found = await clients[lane]!.query({
          name: columns,
          text: `SELECT ${columns} FROM store.objects WHERE bucket = $1 AND key = $2`,
          values: [id, keyBytes(key(random(records)))],
          rowMode: "array",
        });
        sameCount(found.rows.length, 1, "rows");
      });
    await compare(context, {
      ...{ what: "head", lanes, unit: "op/s" },
      round: () =>
        perSecond(work, async () => present(await engine.head(name, key(random(records))), "a head")),
      limits: [{ name: "SELECT of the record", round: selects("record") }],
    });
    await compare(context, {
      ...{ what: "get", size: KiB, lanes, unit: "op/s" },
      round: () => perSecond(work, () => readBody(engine, name, key(random(records)), KiB)),
      limits: [{ name: "SELECT with the bytes", round: selects("record, inline") }],
    });
  }
}
