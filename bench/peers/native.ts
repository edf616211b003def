// Starts the installed native S3 servers on loopback. A note names each server that is missing.
import { execFile } from "node:child_process";
import { accessSync, constants, mkdtempSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import {
  createGrounds,
  eventually,
  freePort,
  type Grounds,
  Hopeless,
} from "../../test/cluster-run/sandbox.ts";
import type { Context } from "../section.ts";
import { benchKey, type Native, natives } from "./natives.ts";
import { startRadosgw } from "./radosgw.ts";
import { createBucket, putObject, type S3Server, s3ServerAt } from "./s3-server.ts";
import { leftOut } from "./s3rver.ts";

export interface NativePeers {
  readonly servers: readonly S3Server[];
  stop(): Promise<void>;
}

/** Start timeout. It is long, because some servers create files and the machine may be busy. */
const patience = 90_000;

export async function startNativePeers(context: Context): Promise<NativePeers> {
  const grounds = createGrounds();
  const servers: S3Server[] = [];
  for (const native of natives) {
    const program = programOf(native.program, context.programs[native.program]);
    if (program === undefined) {
      context.note(
        `${native.name} is skipped: "${native.program}" is not on the PATH (set --${native.program} FILE).`,
      );
      continue;
    }
    context.progress(`starting ${native.name}`);
    try {
      // Retry once: a start may time out on a busy machine.
      const start = () => startNative(native, program, grounds, context);
      servers.push(await start().catch(start));
      context.note(`${native.name}: ${native.durability}.`);
    } catch (error) {
      context.note(
        `${leftOut(native.name, error)} ${grounds.lastOutput(native.name).split("\n").at(-2) ?? ""}`,
      );
    }
  }
  await startRadosgw(context, grounds, servers);
  return { servers, stop: () => grounds.end() };
}

async function startNative(
  native: Native,
  program: string,
  grounds: Grounds,
  context: Context,
): Promise<S3Server> {
  const directory = mkdtempSync(join(context.directory, `${native.program}-`));
  const port = await freePort();
  const { args, env = {}, prepare } = await native.command({ directory, port });
  const pairs = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const daemon = grounds.start(native.name, "env", [...pairs, program, ...args]);
  const { name, isSynced } = native;
  const endpoint = `http://127.0.0.1:${port}`;
  const server = s3ServerAt({ name, endpoint, ...benchKey, isSynced });
  const answers = async () => {
    if (!daemon.isAlive()) throw new Hopeless("it ended");
    await fetch(endpoint);
    return true;
  };
  await eventually(`${name} answers`, answers, patience);
  await prepare?.(async (...words) => (await promisify(execFile)(program, words)).stdout);
  const does = (what: string, work: () => Promise<void>) =>
    eventually(`${name} ${what}`, () => work().then(() => true), patience);
  await does("has its bucket", () => createBucket(server));
  // Wait until a put succeeds: some servers reject objects for a while after creating a bucket.
  await does("takes an object", () => putObject(server, "first", new Uint8Array(1)));
  return server;
}

function programOf(name: string, given: string | undefined): string | undefined {
  const places = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name));
  return (given === undefined ? places : [given]).find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
