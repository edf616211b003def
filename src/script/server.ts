// Runs scripts: bundles each, keeps its processes, routes requests to them, runs their schedules, and takes
// in what changes (code while developing, secrets always) without dropping a request.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Address, type HttpRequest, type HttpResponse, type Listening, listen } from "../http/listen.ts";
import type { ScriptConfig } from "./config.ts";
import type { Mode } from "./host-messages.ts";
import { createProcesses } from "./processes.ts";
import { createRouter } from "./router.ts";
import { createRoutes } from "./routes.ts";
import { createRunningScript, type RunningScript } from "./running-script.ts";
import { runSchedules } from "./schedule.ts";

export interface ServerOptions {
  /** Reads a script's configuration anew each time it is asked. */
  readonly configs: readonly (() => ScriptConfig)[];
  /** The store's data directory. */
  readonly location: string;
  readonly mode: Mode;
  readonly host: string;
  readonly port: number;
  /** Processes a script, when serving. */
  readonly cores: number;
  readonly heapMegabytes: number;
  readonly secrets: SecretSource;
  readonly log: (line: string) => void;
  /** What scripts write to their consoles. */
  readonly onOutput: (script: string, line: string, stream: "stdout" | "stderr") => void;
}

export interface SecretSource {
  values(script: string): Promise<Record<string, string>>;
  /** Different after every change. */
  revision(script: string): Promise<string>;
}

export interface ScriptServer {
  readonly port: number;
  readonly scripts: readonly RunningScript[];
  /** Lets requests under way finish. */
  close(): Promise<void>;
}

export async function startScripts(options: ServerOptions): Promise<ScriptServer> {
  const { mode, host } = options;
  const configs = options.configs.map((read) => ({ read, config: read() }));
  // One script needs nobody in front of it when it serves; while developing, a front lets code change unseen.
  const isDirect = mode === "serve" && configs.length === 1;
  const directory = await mkdtemp(join(tmpdir(), "store-scripts-"));
  const owners = new Map<number, string>();
  const processes = createProcesses({
    heapMegabytes: options.heapMegabytes,
    onOutput: (id, line, stream) => options.onOutput(owners.get(id) ?? "script", line, stream),
  });
  let port = options.port;

  const addressFor = (name: string, count: number): Address =>
    isDirect ? { host, port } : { path: join(directory, `${name}-${count}.sock`) };
  const scripts = configs.map(({ read, config }) =>
    createRunningScript({ ...options, read, config, directory, processes, addressFor, owners }),
  );
  let front: Listening | undefined;
  let schedules: { close(): void } | undefined;

  async function close(): Promise<void> {
    schedules?.close();
    await front?.drain();
    await Promise.all(scripts.map((script) => script.close()));
    await processes.close();
    await rm(directory, { recursive: true, force: true });
  }

  try {
    await Promise.all(scripts.map((script) => script.start()));
    if (isDirect) {
      port = scripts[0]!.pool.port ?? port;
    } else {
      const find = createRoutes(scripts.map((script) => ({ routes: script.config.routes, target: script })));
      const route = createRouter((hostname, target) => find(hostname, target)?.pool);
      front = await listen((request) => triggered(request, find, mode) ?? route(request), { host, port });
      port = front.port ?? port;
    }
    schedules = runSchedules(scripts, options.log);
  } catch (error) {
    await close();
    throw error;
  }
  return { port, scripts, close };
}

type Find = (host: string, target: string) => RunningScript | undefined;

/** While developing, `/__scheduled?cron=…` runs the scheduled handler at once. */
function triggered(request: HttpRequest, find: Find, mode: Mode): Promise<HttpResponse> | undefined {
  if (mode !== "dev" || !/^\/__scheduled(\?|$)/.test(request.target)) return undefined;
  const script = find(request.header("host") ?? "", request.target);
  const cron =
    new URLSearchParams(request.target.split("?")[1] ?? "").get("cron") ?? script?.config.crons[0] ?? "";
  return runNow(script, cron);
}

async function runNow(script: RunningScript | undefined, cron: string): Promise<HttpResponse> {
  const headers = [["content-type", "text/plain; charset=utf-8"]] as const;
  try {
    await script?.scheduled(cron, Date.now());
    return { status: 200, headers, body: "Ran scheduled event\n" };
  } catch (error) {
    return { status: 500, headers, body: `${error instanceof Error ? error.message : String(error)}\n` };
  }
}
