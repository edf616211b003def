// Runs scripts: bundles them, supervises their processes, routes requests, runs schedules, and
// reloads changes (code in dev, secrets always) without dropping requests.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listenInSupervisor, type PortOptions } from "../../http/port-options.ts";
import { divideLimits, supervisorShare } from "../../http/server/limits.ts";
import type { HttpRequest, HttpResponse } from "../../http/server/listen.ts";
import { bindShared, type PortAddress } from "../../http/server/shared-listener.ts";
import type { UpgradeHandler } from "../../http/upgrade.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import { errorMessage } from "../../model/errors.ts";
import type { ServiceBinding } from "../bindings.ts";
import type { ScriptConfig } from "../config/config.ts";
import type { Mode } from "../context.ts";
import { createFairConnections } from "../fair-connections.ts";
import type { HostObserver } from "../host/exchange.ts";
import type { ScriptLoad } from "../host/host-process.ts";
import type { CallerSocket } from "../sandbox/open-services.ts";
import { createAwakeScripts, maxAwakeScripts } from "./processes/awake-scripts.ts";
import { createProcesses } from "./processes/warm-processes.ts";
import type { HostOptions } from "./processes/worker-handle.ts";
import { createRoutes } from "./route-table.ts";
import { createRouter } from "./router.ts";
import { createRunningScript, type RunningScript } from "./running-script.ts";
import { countRuns, createSandboxes, type SandboxSettings } from "./sandboxes.ts";
import { createSchedules } from "./scheduler.ts";
import { reachableScripts } from "./services/resolve-services.ts";
import { serveService } from "./services/service-endpoint.ts";

/** `limits` apply to all processes together. */
export interface ServerOptions
  extends PortAddress,
    Omit<HostOptions, "listener">,
    Pick<ScriptLoad, "location" | "mode" | "presign" | "encryption"> {
  /** Reads and checks a script's configuration; called again for every reload. */
  readonly configs: readonly (() => Promise<ScriptConfig>)[];
  /** Called after each load of a script, because its bindings may have changed. */
  readonly onLoaded?: (() => void) | undefined;
  /** Maximum number of open multipart uploads in each bucket. */
  readonly openUploads?: number | undefined;
  readonly sandbox?: SandboxSettings | undefined;
  /** Observes requests to sandboxed scripts, which this process receives. */
  readonly onExchange?: HostObserver["onExchange"];
  readonly metrics?: Metrics | undefined;
  /** Processes per script in production. */
  readonly cores: number;
  readonly secrets: SecretSource;
  /** Number of scripts that run at a time. */
  readonly maxAwake?: number | undefined;
}

export interface SecretSource {
  values(script: string): Promise<Record<string, string>>;
  /** Identifies the loaded version; changes with every reload. */
  revision(script: string): Promise<string>;
}

export interface ScriptServer {
  readonly port: number;
  readonly scripts: readonly RunningScript[];
  /** Waits for requests in flight. */
  close(): Promise<void>;
}

/**
 * Returns the effective routes; an empty list if the script receives every request, and undefined if
 * only other scripts call it.
 */
export function routesFor(
  config: ScriptConfig,
  configs: readonly ScriptConfig[],
  mode: Mode,
): readonly string[] | undefined {
  const reachable = reachableScripts(configs);
  if (!reachable.includes(config)) return undefined;
  // In dev, a single script needs no routes: hosts in a wrangler file do not resolve here.
  return mode === "dev" && reachable.length === 1 && config.kind === "wrangler" ? [] : config.routes;
}

export async function startScripts(options: ServerOptions): Promise<ScriptServer> {
  const { mode } = options;
  const configs = await Promise.all(options.configs.map(async (read) => ({ read, config: await read() })));
  // A single script in production accepts connections itself; in dev, a router hides reloads.
  const isProcess = ({ config }: (typeof configs)[number]) => config.isolation === "process";
  const isDirect = mode === "serve" && configs.length === 1 && configs.every(isProcess);
  const listener = isDirect ? await bindShared(options) : undefined;
  const directory = await mkdtemp(join(tmpdir(), "store-scripts-"));
  const limits = divideLimits(options.limits, { processes: options.cores, ports: 1 });
  const onRun = countRuns(options.metrics);
  const callers = createFairConnections(options.limits.descriptors, supervisorShare);
  const sandboxes = createSandboxes({ ...options, onRun, serveService: callScript });
  const processes = createProcesses({
    ...{ ...options, listener, limits },
    createSandbox: sandboxes.create,
    keepsSpare: configs.some(isProcess),
  });
  const { maxAwake = maxAwakeScripts(mode === "dev" ? 1 : options.cores) } = options;
  const awake = configs.length > maxAwake ? createAwakeScripts(maxAwake) : undefined;
  const scripts = configs.map(({ read, config }, i) =>
    createRunningScript({
      ...{ ...options, read, config, processes, onLoaded, allScripts, awake },
      startsAsleep: awake !== undefined,
      observer: {
        ...{ script: config.name, onExchange: options.onExchange },
        sendsRequestId: options.watch.observing.logs,
        onRun: (handler, outcome) => onRun(config.name, handler, outcome),
      },
      socketPath: isDirect ? undefined : (count) => join(directory, `${i}-${count}`),
    }),
  );
  const schedules = createSchedules(scripts, options.log);
  let find: FindScript = () => undefined;
  let endpoint: Endpoint | undefined;

  function allScripts(): readonly ScriptConfig[] {
    return scripts.map(({ config }) => config);
  }

  async function callScript(service: ServiceBinding, { path, caller }: CallerSocket): Promise<() => void> {
    const callee = scripts.find(({ config }) => config.name === service.service);
    if (callee === undefined) throw new Error(`This server does not run the script "${service.service}".`);
    const listener = await serveService(service, callee, { path, share: callers.share(caller) });
    return () => void listener.drain();
  }

  function onLoaded(): void {
    const configs = allScripts();
    find = createRoutes(
      scripts.flatMap((script) => {
        const routes = routesFor(script.config, configs, mode);
        return routes === undefined ? [] : [{ routes, target: script }];
      }),
    );
    schedules.plan();
    options.onLoaded?.();
  }

  async function close(): Promise<void> {
    schedules.close();
    listener?.close();
    for (const { pool } of scripts) pool.beginShutdown();
    await endpoint?.close();
    await Promise.all(scripts.map((script) => script.close()));
    await processes.close();
    await sandboxes.close();
    await rm(directory, { recursive: true, force: true });
  }

  try {
    // All have started or failed before the others are closed: a script that starts later would run on.
    const starts = await Promise.allSettled(scripts.map((script) => script.start()));
    for (const start of starts) if (start.status === "rejected") throw start.reason;
    // Scripts that start at their first request have routes and schedules already.
    if (awake !== undefined) onLoaded();
    endpoint =
      listener === undefined
        ? await openFront((...args) => find(...args), {
            ...options,
            // Requests to a sandbox are mostly forwarded, so their cost is that of HTTP.
            shortRequests: configs.every(isProcess) ? "node" : "direct",
          })
        : { port: listener.port, close: async () => {} };
  } catch (error) {
    await close();
    throw error;
  }
  return { port: endpoint.port, scripts, close };
}

type Endpoint = Pick<ScriptServer, "port" | "close">;

async function openFront(
  find: FindScript,
  options: ServerOptions & Pick<PortOptions, "shortRequests">,
): Promise<Endpoint> {
  const route = createRouter((hostname, target) => find(hostname, target)?.handle);
  const handler = (request: HttpRequest) => handleTrigger(request, find, options.mode) ?? route(request);
  const upgrade: UpgradeHandler = async (request) =>
    find(request.header("host") ?? "", request.target)?.upgrade(request);
  const front = await listenInSupervisor(handler, options, { ...options, upgrade });
  return { port: front.port!, close: () => front.drain() };
}

type FindScript = (host: string, target: string) => RunningScript | undefined;

/** In dev, `/__scheduled?cron=…` runs the scheduled handler immediately. */
function handleTrigger(
  request: HttpRequest,
  find: FindScript,
  mode: Mode,
): Promise<HttpResponse> | undefined {
  if (mode !== "dev" || !/^\/__scheduled(\?|$)/.test(request.target)) return undefined;
  const script = find(request.header("host") ?? "", request.target);
  if (script === undefined) return undefined;
  const requestedCron = new URLSearchParams(request.target.split("?")[1] ?? "").get("cron");
  return runScheduled(script, requestedCron ?? script.config.crons[0] ?? "");
}

async function runScheduled(script: RunningScript, cron: string): Promise<HttpResponse> {
  const headers = [["content-type", "text/plain; charset=utf-8"]] as const;
  try {
    await script.scheduled(cron, Date.now());
    return { status: 200, headers, body: "Ran scheduled event\n" };
  } catch (error) {
    return { status: 500, headers, body: `${errorMessage(error)}\n` };
  }
}
