// S3 rows: small and large objects in Store, compared with its peers and the limits of the machine.
// All servers get the same keys and bytes from the same client, with every request signed.
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { requestsPerSecond } from "../http-load.ts";
import { type Limit, md5Alone } from "../limits.ts";
import { forEach, perSecond } from "../measure.ts";
import { type Context, compare, KiB, MiB, sizeName } from "../section.ts";
import { startBareFile } from "./bare-file.ts";
import { getBytes, nameWithSync, putObject, type S3Server } from "./s3-server.ts";

/** Number of keys: enough that the next request is rarely served from a cache. */
const keys = 1024;

export interface S3Peer {
  readonly server: S3Server;
  /** Required ratios to the peer's rates of small GETs (`getBar`) and small PUTs (`putBar`). */
  readonly getBar?: number | undefined;
  readonly putBar?: number | undefined;
}

/** Number of connections of the small requests. */
const lanes = 64;

/** `putLimits` are servers that can only store objects. */
export async function smallRows(
  context: Context,
  store: S3Server,
  peers: readonly S3Peer[],
  putLimits: readonly S3Peer[] = [],
): Promise<void> {
  const { seconds } = context.pace;
  const body = randomBytes(KiB);
  const gets = (server: S3Server) => {
    const load = { port: server.port, connections: lanes, paths: signedPaths(server, "GET", lanes) };
    return (forSeconds = seconds) => requestsPerSecond({ ...load, seconds: forSeconds });
  };
  const puts = (server: S3Server) => {
    const load = { port: server.port, connections: lanes, paths: signedPaths(server, "PUT", lanes) };
    return (forSeconds = seconds) => requestsPerSecond({ ...load, method: "PUT", body, seconds: forSeconds });
  };
  for (const server of [store, ...peers.map((peer) => peer.server)]) {
    context.progress(`warming ${server.name}`);
    await forEach(keys, 16, (index) => putObject(server, keyOf(index), body));
    await warmed(gets(server));
    await warmed(puts(server));
    await warmed(gets(server));
  }
  for (const { server } of putLimits) await warmed(puts(server));
  const row = { size: KiB, lanes, unit: "op/s" } as const;
  await compare(context, {
    ...{ what: "S3 GET", ...row, round: () => gets(store)() },
    limits: peers.map(({ server, getBar }): Limit => {
      return { name: server.name, round: () => gets(server)(), bar: getBar };
    }),
  });
  await compare(context, {
    ...{ what: "S3 PUT, durable", ...row, round: () => puts(store)() },
    limits: [...peers, ...putLimits].map(({ server, putBar }): Limit => {
      return { name: nameWithSync(server), round: () => puts(server)(), bar: putBar };
    }),
  });
}

/** Applies load until the rate stops rising, because a new process still compiles its code. */
async function warmed(load: (forSeconds: number) => Promise<number>): Promise<void> {
  let best = 0;
  for (let round = 0, since = 0; round < 15 && since < 3; round++, since++) {
    const rate = await load(1);
    if (rate > best * 1.05) since = -1;
    best = Math.max(best, rate);
  }
}

/** Returns different keys for each connection, so that connections do not wait for each other. */
function signedPaths(server: S3Server, method: string, connections: number): string[][] {
  const each = Math.floor(keys / connections);
  return Array.from({ length: connections }, (_, connection) =>
    Array.from({ length: each }, (_, index) => server.path(method, keyOf(connection * each + index))),
  );
}

function keyOf(index: number): string {
  return `object-${index}`;
}

export async function largeRows(
  context: Context,
  store: S3Server,
  peers: readonly S3Server[],
  started: ChildProcess[],
): Promise<void> {
  const { seconds } = context.pace;
  const size = (context.quick ? 8 : 64) * MiB;
  const body = randomBytes(size);
  const key = (index: number) => `large-${index % 2}`;
  const bare = await startBareFile({ directory: context.directory, body, started, from: "disk" });
  for (const server of [store, ...peers]) await forEach(2, 1, (index) => putObject(server, key(index), body));
  let next = 0;
  const row = { size, lanes: 1, unit: "MiB/s" } as const;
  const work = { lanes: 1, seconds };
  const gets = (server: S3Server) => () =>
    perSecond(work, () => getBytes(server.port, server.path("GET", key(next++)), size));
  await compare(context, {
    ...{ what: "S3 GET", ...row, round: gets(store) },
    limits: [
      {
        name: "bare node:http",
        round: () => perSecond(work, () => getBytes(bare, "/", size)),
        bar: 0.9,
      },
      ...peers.map((server): Limit => ({ name: server.name, round: gets(server) })),
    ],
  });
  const puts = (server: S3Server) => () => perSecond(work, () => putObject(server, key(next++), body));
  await compare(context, {
    ...{ what: "S3 PUT, durable", ...row, round: puts(store) },
    limits: [
      { ...md5Alone(body, seconds), name: "md5 on one core", bar: 0.9 },
      ...peers.map((server): Limit => ({ name: nameWithSync(server), round: puts(server) })),
    ],
  });
  context.note(`${sizeName(size)} goes through one connection; the client runs on the same cores.`);
}
