// Section "cluster": compares puts and list pages with bare SQL statements, bodies with a bare S3
// engine, strict reads with default reads. All run on one machine, so only ratios are meaningful.
import { randomBytes } from "node:crypto";
import type pg from "pg";
import type { Engine } from "../../src/engine/engine.ts";
import type { StoreBucket } from "../../src/index.ts";
import {
  createBareTable,
  fill,
  insertNew,
  objectRecord,
  replaceSeen,
  selectPage,
} from "../cluster/bare-rows.ts";
import { createBareS3 } from "../cluster/bare-s3.ts";
import { type ClusterPlace, openAt, openClients, startPlace } from "../cluster/place.ts";
import { readBody } from "../cluster/read-body.ts";
import { perSecond } from "../measure.ts";
import { type Context, compare, KiB, MiB, present, random, type Section, sameCount } from "../section.ts";

const connections = 32;
const objects = 100_000;
const page = 1000;
const folders = 1000;
const readers = 8;

export const cluster: Section = {
  name: "cluster",
  description: "a cluster compared with bare PostgreSQL statements and bare S3 requests",
  run,
};

async function run(context: Context): Promise<void> {
  context.progress("starting PostgreSQL and the S3 engine");
  const place = await startPlace(context.directory);
  context.note(`Bytes on ${place.s3Name}. Records in PostgreSQL, fsync on. A pool of ${connections}.`);
  try {
    const location = { ...(await place.newLocation()), pool: connections };
    const clients = await openClients(location.records, connections);
    const usual = await openAt(location);
    const strict = await openAt({ ...location, reads: "strict" });
    await usual.engine.createBucket("bench");
    await createBareTable(clients[0]!);
    await newPuts(context, usual.bucket("bench"), clients);
    await seenPuts(context, usual.bucket("bench"), clients);
    await pages(context, usual.engine, clients);
    await reads(context, usual.engine, strict.engine);
    await bodies(context, usual.engine, place);
    for (const { engine } of [strict, usual]) await engine.close();
    await Promise.all(clients.map((client) => client.end()));
  } finally {
    await place.stop();
  }
}

interface Pair {
  readonly what: string;
  readonly name: string;
  readonly store: (lane: number) => Promise<unknown>;
  readonly bare: (lane: number) => Promise<unknown>;
}

/** Compares a put with the bare SQL. Warms up first, so that all statements are planned. */
async function comparePuts(context: Context, { what, name, store, bare }: Pair): Promise<void> {
  const lanes = connections;
  const warming = { lanes, seconds: 60, operations: lanes * 50 };
  for (const operation of [store, bare]) await perSecond(warming, operation);
  const work = { lanes, seconds: context.pace.seconds };
  await compare(context, {
    ...{ what, size: KiB, lanes, unit: "op/s" },
    round: () => perSecond(work, store),
    limits: [{ name, round: () => perSecond(work, bare) }],
    bar: { atLeast: 0.5, of: name },
  });
}

async function newPuts(context: Context, bucket: StoreBucket, clients: readonly pg.Client[]): Promise<void> {
  const body = randomBytes(KiB);
  const key = (number: number) => `new/${String(number).padStart(9, "0")}`;
  let made = 0;
  let bare = 0;
  await comparePuts(context, {
    what: "put of a new key, on its absence",
    name: "INSERT … DO NOTHING",
    async store() {
      const onlyIf = { etagDoesNotMatch: "*" };
      present(await bucket.put(key(made++), body, { onlyIf }), "a put");
    },
    bare: (lane) => insertNew(clients[lane]!, { record: objectRecord(key(bare++), KiB), body }),
  });
}

async function seenPuts(context: Context, bucket: StoreBucket, clients: readonly pg.Client[]): Promise<void> {
  const etags: string[] = [];
  const versions: string[] = [];
  for (const [lane, client] of clients.entries()) {
    const body = randomBytes(KiB);
    etags.push(present(await bucket.put(`over/${lane}`, body), "a put").etag);
    const record = objectRecord(`over/${lane}`, KiB);
    await insertNew(client, { record, body });
    versions.push(record.version);
  }
  await comparePuts(context, {
    what: "put over the etag that was seen",
    name: "INSERT … DO UPDATE",
    async store(lane) {
      const onlyIf = { etagMatches: etags[lane]! };
      const put = await bucket.put(`over/${lane}`, randomBytes(KiB), { onlyIf });
      etags[lane] = present(put, "a put").etag;
    },
    async bare(lane) {
      const record = objectRecord(`over/${lane}`, KiB);
      await replaceSeen(clients[lane]!, { record, body: randomBytes(KiB) }, versions[lane]);
      versions[lane] = record.version;
    },
  });
}

async function pages(context: Context, engine: Engine, clients: readonly pg.Client[]): Promise<void> {
  context.progress(`filling a bucket with ${objects.toLocaleString("en")} objects`);
  await engine.createBucket("pages");
  const client = clients[0]!;
  const { rows } = await client.query<{ id: string }>("SELECT id FROM store.buckets WHERE name = 'pages'");
  const { id } = rows[0]!;
  await fill(client, id, objects, { home: "inline", recordOf: (index) => objectRecord(keyOf(index), 1) });
  const { seconds } = context.pace;
  for (const lanes of [1, readers]) {
    const work = { lanes, seconds };
    await compare(context, {
      what: `page of ${page} in ${objects.toLocaleString("en")}`,
      lanes,
      unit: "page/s",
      round: () =>
        perSecond(work, async () => {
          const found = await engine.list("pages", { startAfter: keyOf(random(objects - page - 1)) });
          sameCount(found.objects.length, page, "objects in a page");
        }),
      limits: [
        {
          name: "SELECT of the rows",
          round: () =>
            perSecond(work, async (lane) => {
              const found = await selectPage(clients[lane]!, id, keyOf(random(objects - page - 1)));
              sameCount(found, page, "rows");
            }),
        },
      ],
      bar: { atLeast: 0.5, of: "SELECT of the rows" },
    });
    await compare(context, {
      what: `page of ${folders} folders of ${objects / folders} keys`,
      lanes,
      unit: "page/s",
      round: () =>
        perSecond(work, async () => {
          const found = await engine.list("pages", { delimiter: "/" });
          sameCount(found.prefixes.length, folders, "folders in a page");
        }),
      limits: [],
    });
  }
}

function keyOf(index: number): string {
  const inFolder = objects / folders;
  const digits = (number: number) => String(number).padStart(6, "0");
  return `folder-${digits(Math.floor(index / inFolder))}/object-${digits(index % inFolder)}`;
}

async function reads(context: Context, usual: Engine, strict: Engine): Promise<void> {
  for (const lanes of [1, connections]) {
    const work = { lanes, seconds: context.pace.seconds };
    const heads = (engine: Engine) => () =>
      perSecond(work, async () => present(await engine.head("pages", keyOf(random(objects))), "a head"));
    const limits = [{ name: "usual reads", round: heads(usual) }];
    await compare(context, { what: "head, strict", lanes, unit: "op/s", round: heads(strict), limits });
  }
}

async function bodies(context: Context, engine: Engine, place: ClusterPlace): Promise<void> {
  const body = randomBytes(MiB);
  const bare = createBareS3(place.s3);
  const keys = Array.from({ length: 64 }, (_, index) => `body-${index}`);
  context.progress("64 bodies of 1 MiB on both sides");
  for (const key of keys) {
    await engine.put("bench", key, body);
    await bare.put(`bare/${key}`, body);
  }
  const work = { lanes: readers, seconds: context.pace.seconds };
  const name = "GET from the S3 engine";
  await compare(context, {
    what: "get",
    size: MiB,
    lanes: readers,
    unit: "MiB/s",
    round: () => perSecond(work, () => readBody(engine, "bench", keys[random(keys.length)]!, MiB)),
    limits: [
      {
        name,
        round: () =>
          perSecond(work, async () => {
            sameCount(await bare.get(`bare/${keys[random(keys.length)]!}`), MiB, "bytes from S3");
          }),
      },
    ],
    bar: { atLeast: 0.7, of: name },
  });
  bare.close();
}
