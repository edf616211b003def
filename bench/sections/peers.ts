// Everything a user could pick instead, in one run: scripts beside miniflare, the S3 API beside other servers that
// speak it, durable puts beside the disk itself. A peer that is not there is left out, and said so.
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../src/index.ts";
import { barsOf } from "../draw/bars.ts";
import { groupAppend } from "../limits.ts";
import { perSecond } from "../measure.ts";
import { startNativePeers } from "../peers/native.ts";
import { largeRows, type S3Peer, smallRows } from "../peers/s3-rows.ts";
import { startS3Store } from "../peers/s3-store.ts";
import { leftOut, s3rverBars, startS3rver } from "../peers/s3rver.ts";
import { miniflareVersion, startMiniflareScript, startStoreScript } from "../peers/scripts.ts";
import { type Context, compare, KiB, type Row, type Section } from "../section.ts";
import { end } from "../servers.ts";

export const peers: Section = {
  name: "peers",
  description:
    "scripts beside miniflare, S3 beside s3rver and every native server found, puts beside the disk",
  run,
};

async function run(context: Context): Promise<void> {
  const rows: Row[] = [];
  const row = (one: Row) => {
    rows.push(one);
    context.row(one);
  };
  const drawn = { ...context, row };
  await besideMiniflare(drawn);
  await besideServers(drawn);
  await besideDisk(drawn);
  const judged = rows.filter(({ limits }) => limits.some(({ bar }) => bar !== undefined));
  context.picture((footer) => barsOf("Store beside what one could pick instead", judged, footer));
}

async function besideMiniflare(context: Context): Promise<void> {
  const { seconds } = context.pace;
  const started: ChildProcess[] = [];
  try {
    const store = await startStoreScript(join(context.directory, "script"), started);
    const miniflare = await startMiniflareScript(context, started).catch((error: unknown) => {
      context.note(leftOut("miniflare", error));
      return undefined;
    });
    for (const [operation, lanes, bar] of [
      ["head", 1, 50],
      ["get", 1, 30],
      ["put", 32, 30],
    ] as const) {
      await compare(context, {
        what: `script ${operation}${operation === "put" ? ", durable" : ""}`,
        ...{ size: KiB, lanes, unit: "op/s" },
        round: () => store.rate(operation, lanes, seconds),
        limits:
          miniflare === undefined
            ? []
            : [
                {
                  name: operation === "put" ? "miniflare, rows synced" : "miniflare",
                  round: () => miniflare.rate(operation, lanes, seconds),
                  bar,
                },
              ],
      });
    }
    if (miniflare !== undefined) {
      context.note(
        `miniflare ${miniflareVersion}: over workerd, on the disk; it syncs its rows, and the files of the bodies never.`,
      );
    }
  } finally {
    await Promise.all(started.map(end));
  }
}

async function besideServers(context: Context): Promise<void> {
  const started: ChildProcess[] = [];
  const native = await startNativePeers(context);
  try {
    const directory = join(context.directory, "s3");
    mkdirSync(directory);
    const store = await startS3Store(directory, started);
    const s3rver = await startS3rver(context, started);
    const found: S3Peer[] = native.servers.map((server) => ({
      server,
      ...{ getBar: 1, putBar: server.isSynced ? 2 : undefined },
    }));
    if (s3rver !== undefined) found.unshift({ server: s3rver, ...s3rverBars });
    await smallRows(context, store, found);
    await largeRows(
      context,
      store,
      found.map(({ server }) => server),
      started,
    );
  } finally {
    await Promise.all([native.stop(), ...started.map(end)]);
  }
}

/** New objects, in a store of its own, beside the same bytes appended in groups as large as can be. */
async function besideDisk(context: Context): Promise<void> {
  const { seconds } = context.pace;
  const lanes = 64;
  const directory = join(context.directory, "puts");
  const raw = join(context.directory, "raw");
  for (const folder of [directory, raw]) mkdirSync(folder);
  const store = await openStore(directory);
  await store.createBucket("bench");
  const bucket = store.bucket("bench");
  let next = 0;
  for (const size of [KiB, 16 * KiB, 64 * KiB]) {
    const body = randomBytes(size);
    const limit = groupAppend(raw, body, lanes, seconds);
    await compare(context, {
      ...{ what: "put, durable", size, lanes, unit: "op/s" },
      round: () => perSecond({ lanes, seconds }, () => bucket.put(`${size}/${next++}`, body)),
      limits: [{ ...limit, name: `${limit.name}, alone`, bar: 0.4 }],
    });
  }
  await store.close();
}
