// Section "encryption": the same S3 requests to a bucket that encrypts with the store's keys and to
// one that does not, in alternating rounds.
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openEngine } from "../../src/open.ts";
import { requestsPerSecond } from "../http-load.ts";
import { forEach, perSecond } from "../measure.ts";
import { bucket, getBytes, putObject, type S3Server } from "../peers/s3-server.ts";
import { startS3Store } from "../peers/s3-store.ts";
import { type Context, compare, KiB, MiB, type Section } from "../section.ts";
import { end } from "../servers.ts";

export const encryption: Section = {
  name: "encryption",
  description: "S3 GET and PUT of encrypted objects, compared with objects that are not encrypted",
  run,
};

const keys = 1024;
const bar = { atLeast: 0.85, of: "not encrypted" };

async function run(context: Context): Promise<void> {
  const started: ChildProcess[] = [];
  // The difference is small, which many short rounds show better than a few long rounds.
  const pace = context.quick ? context.pace : { ...context.pace, rounds: 15, seconds: 1 };
  try {
    const sealed = await startOne(join(context.directory, "encrypted"), started);
    const plain = await startOne(join(context.directory, "plain"), started);
    const { engine } = await openEngine(join(context.directory, "encrypted", "data"));
    await engine.changeSettings(bucket, { encryption: { algorithm: "AES256" } });
    await engine.close();
    await small({ ...context, pace }, sealed, plain);
    await large({ ...context, pace }, sealed, plain);
  } finally {
    await Promise.all(started.map(end));
  }
}

function startOne(directory: string, started: ChildProcess[]): Promise<S3Server> {
  mkdirSync(directory);
  return startS3Store(directory, started);
}

async function small(context: Context, sealed: S3Server, plain: S3Server): Promise<void> {
  const { seconds } = context.pace;
  const body = randomBytes(KiB);
  const load = (server: S3Server, method: "GET" | "PUT", connections: number) => {
    const paths = pathsOf(server, method, connections);
    const more = method === "PUT" ? { method, body } : {};
    return () => requestsPerSecond({ port: server.port, paths, connections, seconds, ...more });
  };
  for (const server of [sealed, plain]) {
    await forEach(keys, 16, (index) => putObject(server, keyOf(index), body));
    for (let i = 0; i < (context.quick ? 1 : 5); i++) {
      await load(server, "GET", 16)();
      await load(server, "PUT", 64)();
    }
  }
  for (const { what, method, lanes } of [
    { what: "S3 GET", method: "GET", lanes: 16 } as const,
    { what: "S3 PUT, durable", method: "PUT", lanes: 64 } as const,
  ]) {
    await compare(context, {
      ...{ what, size: KiB, lanes, unit: "op/s", round: load(sealed, method, lanes) },
      limits: [{ name: "not encrypted", round: load(plain, method, lanes) }],
      bar,
    });
  }
}

async function large(context: Context, sealed: S3Server, plain: S3Server): Promise<void> {
  const size = (context.quick ? 8 : 64) * MiB;
  const body = randomBytes(size);
  const key = (index: number) => `large-${index % 2}`;
  const work = { lanes: 1, seconds: context.pace.seconds };
  let next = 0;
  for (const server of [sealed, plain]) await forEach(2, 1, (index) => putObject(server, key(index), body));
  const gets = (server: S3Server) => () =>
    perSecond(work, () => getBytes(server.port, server.path("GET", key(next++)), size));
  const puts = (server: S3Server) => () => perSecond(work, () => putObject(server, key(next++), body));
  for (const [what, round] of [["S3 GET", gets] as const, ["S3 PUT, durable", puts] as const]) {
    await compare(context, {
      ...{ what, size, lanes: 1, unit: "MiB/s", round: round(sealed) },
      limits: [{ name: "not encrypted", round: round(plain) }],
      bar,
    });
  }
}

function pathsOf(server: S3Server, method: string, connections: number): string[][] {
  const each = Math.floor(keys / connections);
  return Array.from({ length: connections }, (_, connection) =>
    Array.from({ length: each }, (_, index) => server.path(method, keyOf(connection * each + index))),
  );
}

function keyOf(index: number): string {
  return `object-${index}`;
}
