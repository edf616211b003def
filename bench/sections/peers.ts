// Section "peers": compares scripts with miniflare, the S3 API with other S3 servers, and durable
// puts with the disk itself. A peer that is not available is named in a note.
import type { ChildProcess } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { barsOf } from "../draw/bars.ts";
import { startNativePeers } from "../peers/native.ts";
import { largeRows, type S3Peer, smallRows } from "../peers/s3-rows.ts";
import { startS3Store } from "../peers/s3-store.ts";
import { leftOut, s3rverBars, startS3rver } from "../peers/s3rver.ts";
import { miniflareVersion, startMiniflareScript, startStoreScript } from "../peers/scripts.ts";
import { type Context, compare, KiB, type Row, type Section } from "../section.ts";
import { end } from "../servers.ts";
import { writers } from "./writers.ts";

export const peers: Section = {
  name: "peers",
  description:
    "scripts compared with miniflare, S3 with s3rver and installed native servers, puts with the disk",
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
  const puts = join(context.directory, "puts");
  mkdirSync(puts);
  await writers.run({ ...drawn, directory: puts });
  const judged = rows.filter(({ bar, limits }) =>
    [bar, ...limits.map((limit) => limit.bar)].some((one) => one),
  );
  context.picture((footer) =>
    barsOf("Store compared with its peers and the limits of the machine", judged, footer),
  );
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
        `miniflare ${miniflareVersion}: over workerd, on disk; it syncs its rows, but never the files of the bodies.`,
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
