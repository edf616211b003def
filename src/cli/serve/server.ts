// Runs `store dev` and `store serve`: checks the configuration, starts all servers, announces them,
// and shuts them down on a signal.

import { randomUUID } from "node:crypto";
import { availableParallelism } from "node:os";
import type { Damage } from "../../engine/engine.ts";
import type { PortLimits } from "../../http/server/limits.ts";
import { AssetsError } from "../../script/assets/asset-directory.ts";
import { readConfig } from "../../script/config/config.ts";
import type { Mode } from "../../script/context.ts";
import { BundleError } from "../../script/supervisor/bundle.ts";
import { createScriptLog, type ScriptLog } from "../../script/supervisor/script-log.ts";
import { type ScriptServer, startScripts } from "../../script/supervisor/supervisor.ts";
import { LoadError } from "../../script/supervisor/worker-handle.ts";
import { createSecrets } from "../../secrets/secrets.ts";
import type { Invocation, Option } from "../framework/command.ts";
import { CommandError } from "../framework/command-error.ts";
import { type Data, openData } from "../store/open-store.ts";
import {
  configFiles,
  environmentOption,
  hasConfigs,
  noteUnread,
  readOptions,
} from "../store/script-config.ts";
import { announce } from "./announce.ts";
import { createConfigReader } from "./config-reader.ts";
import { type ConsoleSettings, consoleOptions, consoleSettings, serveConsole } from "./console.ts";
import { consoleScripts } from "./console-scripts.ts";
import { deliverEvents } from "./events.ts";
import { limitOptions, portLimits, uploadLimit } from "./limit-options.ts";
import {
  type CommonPortOptions,
  listenError,
  numberOption,
  type PortSetting,
  portOption,
  proxyOptions,
  trustedOption,
} from "./listen-options.ts";
import { type Observation, observationOptions, openObservation } from "./observability.ts";
import { openPorts } from "./open-ports.ts";
import {
  type PublicSettings,
  publicOptions,
  publicSettings,
  type RunningPublic,
  servePublic,
} from "./public.ts";
import { runBuilds } from "./run-build.ts";
import { type RunningS3, type S3Settings, s3Options, s3Settings, serveS3 } from "./s3.ts";
import { checkNames } from "./script-checks.ts";
import { openTls, type RunningTls, type TlsFiles, tlsFiles, tlsOptions } from "./tls.ts";

export const serverOptions: Readonly<Record<string, Option>> = {
  ...environmentOption,
  port: { value: "PORT", summary: "port of the scripts; default: 8787; 0 picks a free port" },
  host: { value: "HOST", summary: "address to listen on; default: 127.0.0.1" },
  ...s3Options,
  ...consoleOptions,
  ...publicOptions,
  ...tlsOptions,
  ...proxyOptions,
  ...limitOptions,
  ...observationOptions,
  "create-buckets": { summary: "create buckets and key-value namespaces that do not exist yet" },
  "script-memory": {
    value: "MB",
    summary: "heap limit of a script, after which it is restarted; default: 512",
  },
};

/** Everything read from options and configurations before anything is opened or created. */
interface Plan extends PortSetting {
  readonly mode: Mode;
  readonly heapMegabytes: number;
  /** Empty when there are no scripts. */
  readonly files: readonly string[];
  readonly s3: S3Settings;
  readonly console: ConsoleSettings;
  readonly public: PublicSettings;
  readonly tls: TlsFiles | undefined;
  readonly trusted: readonly string[];
  readonly limits: PortLimits;
  /** Maximum open multipart uploads in each bucket. */
  readonly openUploads: number;
}

/** The plan together with loaded certificates and open metrics. */
interface ReadyPlan extends Omit<Plan, "tls">, Omit<Observation, "close"> {
  readonly tls: RunningTls | undefined;
}

async function createPlan(invocation: Invocation, mode: Mode): Promise<Plan> {
  const isS3Only = mode === "serve" && !hasConfigs(invocation);
  const plan = {
    mode,
    ...portOption(invocation, { option: "port", port: 8787, mode }),
    heapMegabytes: numberOption(invocation, "script-memory", 512, 1_000_000),
    files: isS3Only ? [] : configFiles(invocation),
    s3: s3Settings(invocation, mode),
    console: consoleSettings(invocation, mode),
    public: publicSettings(invocation, mode),
    tls: tlsFiles(invocation),
    trusted: trustedOption(invocation),
    limits: portLimits(invocation),
    openUploads: uploadLimit(invocation),
  };
  if (plan.files.length > 0) noteUnread(invocation);
  if (mode === "dev") await runBuilds(invocation, plan.files);
  const configs = plan.files.map((file) => readConfig(file, readOptions(invocation, mode)));
  checkNames(configs);
  const devPort =
    mode === "dev" ? configs.find((config) => config.devPort !== undefined)?.devPort : undefined;
  const isGiven = invocation.options.text("port") !== undefined;
  return devPort === undefined || isGiven ? plan : { ...plan, port: devPort, whenTaken: "fail" };
}

export async function serveScripts(invocation: Invocation, mode: Mode): Promise<void> {
  // Read the configuration first, so that an invalid one does not create a data directory.
  const plan = await createPlan(invocation, mode);
  const observation = await openObservation(invocation);
  try {
    await servePlan(invocation, plan, observation);
  } finally {
    await observation.close();
  }
}

async function servePlan(invocation: Invocation, plan: Plan, observation: Observation): Promise<void> {
  const { mode } = plan;
  const log = (line: string) => invocation.output.note(line);
  const tls = plan.tls === undefined ? undefined : await openTls(plan.tls, { log });
  const data = await openData(invocation, {
    ...{ absent: "create", metrics: observation.metrics, openUploads: plan.openUploads },
  });
  try {
    if (data.location === "memory:") {
      throw new CommandError(
        "A server cannot use memory: as its store, because its processes cannot share it.",
        {
          hint: "Use a folder: --data DIR",
        },
      );
    }
    const read = createConfigReader(invocation, data, mode);
    for (const file of plan.files) await read(file, mode === "dev" ? "ask" : "never ask");
    // The server's processes and concurrent commands commit through this process.
    await data.commitForOthers();
    await serveAll(invocation, data, { ...plan, ...observation, tls });
  } finally {
    tls?.close();
    await data.close();
  }
}

/** Starts every server. Closes all of them at the end, or when one cannot be started. */
async function serveAll(invocation: Invocation, data: Data, plan: ReadyPlan): Promise<void> {
  const { output } = invocation;
  const { mode, tls, watch, onExchange } = plan;
  const log = (line: string) => output.note(line);
  const { trusted, limits } = plan;
  const commonPortOptions: CommonPortOptions = { tls: tls?.source, trusted, limits, probe: randomUUID() };
  const scriptLog = createScriptLog(Date.now);
  const running: { close(): Promise<void> }[] = [{ close: async () => scriptLog.close() }];
  const track = <T extends { close(): Promise<void> } | undefined>(server: T): T => {
    if (server !== undefined) running.push(server);
    return server;
  };
  try {
    const s3 = track(
      await serveS3(plan.s3, { data, mode, watch, log, commonPortOptions, openUploads: plan.openUploads }),
    );
    const server = track(
      await startPlannedScripts(invocation, data, {
        ...plan,
        commonPortOptions,
        presign: s3.presign,
        scriptLog,
      }),
    );
    let publicServer: RunningPublic | undefined;
    const ports = () =>
      openPorts({ host: plan.s3.host, s3, server, publicServer, isSecure: tls !== undefined });
    const { probe } = commonPortOptions;
    const { monitoring, metrics } = plan.createMonitoring({ ...data, scripts: server, ports, probe });
    const scripts = consoleScripts(server, scriptLog, data);
    const console = track(
      await serveConsole(plan.console, {
        data,
        mode,
        log,
        monitoring,
        metrics,
        onExchange,
        commonPortOptions,
        s3,
        scripts,
      }),
    );
    publicServer = track(await servePublic(plan.public, { data, log, onExchange, commonPortOptions }));
    track(deliverEvents({ data, server, log }));
    data.engine.startScrub((damage) => log(scrubLine(damage)));
    const portSettings = { scripts: plan, s3: plan.s3, console: plan.console, public: plan.public };
    const ready = { server, s3, console, publicServer, location: data.location, mode, tls: tls?.source };
    await announce(invocation, { ...ready, ports: portSettings });
    await waitForEndSignal(tls);
    log("Shutting down: waiting for requests in flight to finish.");
  } finally {
    await Promise.all(running.map((server) => server.close()));
  }
}

/** Log line for damage, with what to do. */
function scrubLine({ bucket, key, what }: Damage): string {
  const subject = bucket === undefined ? "the store" : key === undefined ? bucket : `${bucket}/${key}`;
  const remedy =
    key === undefined ? "List all damage" : "Upload it again or restore it from a backup; list all damage";
  return `The scrub found damage in ${subject}: ${what} ${remedy}: store verify`;
}

interface ScriptPlan extends Omit<ReadyPlan, "tls">, Pick<RunningS3, "presign"> {
  readonly commonPortOptions: CommonPortOptions;
  readonly scriptLog: ScriptLog;
}

async function startPlannedScripts(
  invocation: Invocation,
  data: Data,
  {
    files,
    mode,
    port,
    whenTaken,
    presign,
    watch,
    commonPortOptions,
    scriptLog,
    s3: { host },
    ...plan
  }: ScriptPlan,
): Promise<ScriptServer | undefined> {
  if (files.length === 0) return undefined;
  const { output } = invocation;
  const read = createConfigReader(invocation, data, mode);
  return startScripts({
    configs: files.map((file) => () => read(file, "never ask")),
    location: data.location,
    ...{ mode, presign, host, port, whenTaken, watch, ...commonPortOptions },
    ...{ heapMegabytes: plan.heapMegabytes, openUploads: plan.openUploads },
    environment: process.env,
    cores: availableParallelism(),
    secrets: createSecrets(data.documents, data.secretKey()),
    log: (line) => output.note(line),
    onOutput(script, line, stream) {
      scriptLog.write(script, line, stream);
      const prefix = files.length > 1 ? `[${script}] ` : "";
      output[stream].write(`${prefix}${line}\n`);
    },
  }).catch((error: unknown) => {
    throw startError(error, host, port);
  });
}

/** Converts errors of scripts and ports that the user can fix. */
function startError(error: unknown, host: string, port: number): unknown {
  if (isScriptError(error)) return new CommandError(error.message);
  return listenError(error, { host, port, option: "port" });
}

function isScriptError(error: unknown): error is Error {
  return error instanceof BundleError || error instanceof LoadError || error instanceof AssetsError;
}

/** Resolves at the first signal; a second one ends the process immediately. */
function waitForEndSignal(tls: RunningTls | undefined): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
    // SIGHUP from a terminal means that it was closed; for a service it means: reload the files.
    if (tls === undefined || process.stdin.isTTY) process.once("SIGHUP", () => resolve());
    else process.on("SIGHUP", () => void tls.reload());
  });
}
