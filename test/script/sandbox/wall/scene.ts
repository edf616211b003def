// Starts real processes behind the wall: workerd with a script, and perl as a native attacker.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { buildWall, defaultSandboxLimits } from "../../../../src/script/sandbox/wall/build-wall.ts";
import { startWall } from "../../../../src/script/sandbox/wall/start-wall.ts";
import type { SandboxLimits, WallFile, WallTools } from "../../../../src/script/sandbox/wall/types.ts";
import { workerd } from "../../../support/workerd/start-workerd.ts";
import { skip, wallCheck } from "../requirements.ts";

const check = wallCheck;

/** Reason to skip tests of the wall, which is printed, or false. */
export const skipWall = skip;
const perl = "/usr/bin/perl";
export const skipPerl = existsSync(perl) ? skipWall : "perl is not installed";
if (skipPerl !== skipWall) console.error(`NOT TESTED: ${skipPerl}`);

export function readyTools(): WallTools {
  if (check.kind !== "ready") throw new Error(JSON.stringify(check));
  return check.tools;
}

/** Makes a folder that the user of the wall owns. */
export async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "store-wall-test-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const { user } = readyTools();
  await chmod(folder, 0o700);
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  return folder;
}

/** Runs a perl program as the process behind the wall. Returns its output and exit code. */
export async function runPerl(
  t: TestContext,
  program: string,
  change: { readonly tools?: Partial<WallTools>; readonly limits?: Partial<SandboxLimits> } = {},
): Promise<{ readonly output: string; readonly code: number | null }> {
  const libraries = execFileSync("ldd", [perl], { encoding: "utf8" }).matchAll(/=> (\/\S+)/g);
  const tools = { ...readyTools(), ...change.tools };
  const bound = new Set(tools.files.map(({ to }) => to));
  const files = [...libraries].map(([, path]): WallFile => ({ from: path!, to: path! }));
  const wall = buildWall({
    tools,
    workerd: perl,
    files: files.filter(({ to }) => !bound.has(to)),
    sockets: await makeFolder(t),
    args: ["-e", program],
    limits: { ...defaultSandboxLimits, ...change.limits },
  });
  const { child } = startWall(wall);
  const exit = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  return { output: output + errors, code };
}

export interface RunningScript {
  /** Folder of the sockets on this machine. */
  readonly sockets: string;
  readonly workerdPid: number;
  get(path: string): Promise<{ readonly status: number | undefined; readonly body: string }>;
  /** Output of the process, up to now. */
  output(): string;
  /** Exit code of the wall. */
  readonly ended: Promise<number | null>;
  kill(): void;
}

/** Starts workerd behind the wall with one module. env.OUTSIDE fetches from the socket `outside`. */
export async function startScript(
  t: TestContext,
  script: string,
  limits: Partial<SandboxLimits> = {},
): Promise<RunningScript> {
  const folder = await makeFolder(t);
  const sockets = await makeFolder(t);
  await writeFile(join(folder, "script.js"), script);
  await writeFile(join(folder, "config.capnp"), configuration);
  const wall = buildWall({
    tools: readyTools(),
    workerd,
    files: [{ from: folder, to: "/script" }],
    sockets,
    args: ["serve", "/script/config.capnp"],
    limits: { ...defaultSandboxLimits, ...limits },
  });
  const { child, workerdPid } = startWall(wall);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const socketPath = join(sockets, "main");
  while (!(await canConnect(socketPath))) {
    if (child.exitCode !== null) throw new Error(`workerd ended: ${output}`);
    await delay(20);
  }
  return {
    sockets,
    workerdPid: await workerdPid,
    async get(path) {
      const response = await ask(socketPath, path);
      return { status: response.statusCode, body: await text(response) };
    },
    output: () => output,
    ended,
    kill: () => void child.kill("SIGKILL"),
  };
}

const configuration = `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "script.js", esModule = embed "script.js")],
      compatibilityDate = "2026-10-01",
      compatibilityFlags = ["nodejs_compat"],
      bindings = [(name = "OUTSIDE", service = "outside")],
      globalOutbound = "none",
    )),
    (name = "none", network = (allow = [])),
    (name = "outside", external = (address = "unix:/sockets/outside", http = ())),
  ],
  sockets = [(name = "main", address = "unix:/sockets/main", http = (), service = "main")],
);
`;

function ask(socketPath: string, path: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request({ socketPath, path, agent: false }, resolve).on("error", reject).end();
  });
}

function canConnect(socketPath: string): Promise<boolean> {
  return ask(socketPath, "/").then(
    (response) => text(response).then(() => true),
    () => false,
  );
}
