// Runs `store dev` and `store serve`: checks the configuration, starts all servers, announces them,
// and shuts them down on a signal.
import { randomUUID } from "node:crypto";
import { availableParallelism } from "node:os";
import type { Damage } from "../../engine/maintenance/reports.ts";
import type { PortOptions } from "../../http/port-options.ts";
import { AssetsError } from "../../script/assets/asset-directory.ts";
import { readConfig, type ScriptConfig } from "../../script/config/config.ts";
import type { Mode } from "../../script/context.ts";
import { LoadError } from "../../script/host/host-process.ts";
import { BundleError } from "../../script/supervisor/bundle.ts";
import { createScriptLog, type ScriptLog } from "../../script/supervisor/script-log.ts";
import { type ScriptServer, startScripts } from "../../script/supervisor/supervisor.ts";
import { createSecrets } from "../../secrets/secrets.ts";
import { createRecentMessages, keepServerRecord, type RecordKeeper } from "../../servers/server-record.ts";
import type { Invocation } from "../framework/command.ts";
import { CommandError } from "../framework/command-error.ts";
import { escapeScriptText } from "../framework/output.ts";
import { notifySystemd } from "../framework/systemd.ts";
import { type Data, openData } from "../store/open-store.ts";
import { readOptions } from "../store/script-config.ts";
import { announce } from "./announce.ts";
import { type RunningConsole, serveConsole } from "./console/console.ts";
import { consoleScripts } from "./console/scripts.ts";
import { consoleStatus } from "./console/status.ts";
import { deliverEvents } from "./events.ts";
import { listenError, serverUrl } from "./listen-options.ts";
import { type Observation, openObservation } from "./observability.ts";
import { openPorts } from "./open-ports.ts";
import { createPlan, type Plan } from "./plan.ts";
import { type RunningPublic, servePublic, serverNames } from "./public.ts";
import { describeServer } from "./record/describe-server.ts";
import { type RunningS3, serveS3 } from "./s3.ts";
import { checkBuckets, checkNamespaces, checkSecretNames, type PromptMode } from "./script-checks.ts";
import { prepareBucketSockets, serveBucketSockets } from "./sockets/bucket-sockets.ts";
import { openTls, type RunningTls } from "./tls.ts";

/** The plan, with the certificates loaded and the metrics and request log open. */
interface ReadyPlan extends Omit<Plan, "tls">, Omit<Observation, "close"> {
  readonly tls: RunningTls | undefined;
  readonly certificate: string | undefined;
}

export async function serveScripts(invocation: Invocation, mode: Mode): Promise<void> {
  // Read the configuration first: if it is invalid, no data directory is created.
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
        { hint: "Use a folder: --data DIR" },
      );
    }
    const read = createConfigReader(invocation, data, mode);
    for (const file of plan.files) await read(file, mode === "dev" ? "ask" : "never ask");
    await prepareBucketSockets(plan.bucketSockets, data);
    // Worker processes and concurrent commands commit through this process.
    await data.commitForOthers();
    await serveAll(invocation, data, { ...plan, ...observation, tls, certificate: plan.tls?.certificate });
  } finally {
    tls?.close();
    await data.close();
  }
}

/** Starts every server. Closes all servers at the end, or when one cannot be started. */
async function serveAll(invocation: Invocation, data: Data, plan: ReadyPlan): Promise<void> {
  const { output } = invocation;
  const { mode, tls, watch, onExchange } = plan;
  const messages = createRecentMessages(Date.now);
  const log = (text: string) => {
    // May contain the message of a script's error.
    const line = escapeScriptText(text);
    messages.add(line);
    output.note(line);
  };
  const { trusted, limits, streams } = plan;
  const commonPortOptions: PortOptions = {
    ...{ tls: tls?.source, trusted, limits, streams, probe: randomUUID() },
  };
  const scriptLog = createScriptLog(Date.now);
  const running: { close(): Promise<void> }[] = [{ close: async () => scriptLog.close() }];
  let recordKeeper: RecordKeeper | undefined;
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
        log,
        onLoaded: () => recordKeeper?.renew(),
      }),
    );
    let publicServer: RunningPublic | undefined;
    const ports = () =>
      openPorts({ host: plan.s3.host, s3, server, publicServer, isSecure: tls !== undefined });
    const { probe } = commonPortOptions;
    const { monitoring, metrics, ...sampling } = plan.createMonitoring({
      ...{ ...data, scripts: server, ports, probe },
    });
    track(sampling);
    const scripts = consoleScripts(server, scriptLog, data);
    const status = consoleStatus({
      ...{ data, log: scriptLog, scripts: server?.scripts.length ?? 0, troubles: monitoring.troubles },
      ports: () => [
        ["S3 API", s3.url],
        ["Console", console.url],
        ["Public buckets", publicServer?.url],
        ["Scripts", server === undefined ? undefined : serverUrl(plan.host, server.port, tls?.source)],
      ],
    });
    const console: RunningConsole = track(
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
        publicPort: () => publicServer?.port(),
        serverNames: serverNames(plan),
        webhooks: plan.webhooks,
        status,
      }),
    );
    publicServer = track(
      await servePublic(plan.public, {
        ...{ data, log, onExchange, commonPortOptions, serverNames: serverNames(plan) },
      }),
    );
    track(await serveBucketSockets(plan.bucketSockets, { data, log, onExchange, commonPortOptions }));
    track(deliverEvents({ data, webhooks: plan.webhooks, server, log, metrics: plan.metrics }));
    data.engine.startScrub((damage) => log(scrubLine(damage)));
    const portSettings = { scripts: plan, s3: plan.s3, console: plan.console, public: plan.public };
    const ready = { server, s3, console, publicServer, location: data.location, mode, tls: tls?.source };
    const record = () =>
      describeServer({ ...ready, plan, messages: messages.list(), requestLog: plan.requestLog });
    recordKeeper = track(await keepServerRecord(data.documents, record));
    await announce(invocation, { ...ready, ports: portSettings, bucketSockets: plan.bucketSockets });
    // Signals may arrive as soon as systemd knows that the server is ready.
    const ended = waitForEndSignal(tls);
    await notifySystemd("READY=1", invocation);
    await ended;
    await notifySystemd("STOPPING=1", invocation);
    log("Shutting down: waiting for requests in flight to finish.");
  } finally {
    await Promise.all(running.map((server) => server.close()));
  }
}

/** Formats a log line for damage, with advice. */
function scrubLine({ bucket, key, what }: Damage): string {
  const subject = bucket === undefined ? "the store" : key === undefined ? bucket : `${bucket}/${key}`;
  const remedy =
    key === undefined ? "List all damage" : "Upload it again or restore it from a backup; list all damage";
  return `The scrub found damage in ${subject}: ${what} ${remedy}: store verify`;
}

/** Reads a configuration and checks that everything it names exists. */
function createConfigReader(invocation: Invocation, data: Data, mode: Mode) {
  const secrets = createSecrets(data.documents, data.secretKey());
  return async (file: string, promptMode: PromptMode): Promise<ScriptConfig> => {
    const config = readConfig(file, readOptions(invocation, mode));
    noteOnce(invocation, config.notes);
    checkSecretNames(config, await secrets.list(config.name));
    await checkBuckets(invocation, data, config, { promptMode, mode });
    await checkNamespaces(invocation, data, config, { promptMode, mode });
    return config;
  };
}

const printedNotes = new WeakMap<Invocation, Set<string>>();

/** Prints each note once, although a configuration is read several times. */
function noteOnce(invocation: Invocation, notes: readonly string[]): void {
  const printed = printedNotes.get(invocation) ?? new Set();
  printedNotes.set(invocation, printed);
  for (const note of notes) {
    if (printed.has(note)) continue;
    printed.add(note);
    invocation.output.note(note);
  }
}

interface ScriptPlan extends Omit<ReadyPlan, "tls">, Pick<RunningS3, "presign"> {
  readonly log: (line: string) => void;
  readonly commonPortOptions: PortOptions;
  readonly scriptLog: ScriptLog;
  readonly onLoaded: () => void;
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
    log,
    onLoaded,
    host,
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
    ...{ heapMegabytes: plan.heapMegabytes, openUploads: plan.openUploads, maxAwake: plan.maxScripts },
    ...{ sandbox: plan.sandbox, onExchange: plan.onExchange, metrics: plan.metrics },
    encryption: {
      secretKey: Buffer.from(data.secretKey()).toString("base64"),
      encrypt: data.encryption,
    },
    environment: process.env,
    cores: availableParallelism(),
    secrets: createSecrets(data.documents, data.secretKey()),
    ...{ log, onLoaded },
    onOutput(script, text, stream) {
      const line = escapeScriptText(text);
      scriptLog.write(script, line, stream);
      const prefix = files.length > 1 ? `[${script}] ` : "";
      output[stream].write(`${prefix}${line}\n`);
    },
  }).catch((error: unknown) => {
    throw startError(error, host, port);
  });
}

/** Converts errors of scripts and ports that the user can fix to command errors. */
function startError(error: unknown, host: string, port: number): unknown {
  if (isScriptError(error)) return new CommandError(error.message);
  return listenError(error, { host, port, option: "port" });
}

function isScriptError(error: unknown): error is Error {
  return error instanceof BundleError || error instanceof LoadError || error instanceof AssetsError;
}

/** Resolves at the first signal; a second signal ends the process immediately. */
function waitForEndSignal(tls: RunningTls | undefined): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
    // SIGHUP means a closed terminal. A service with TLS reloads its certificate instead.
    if (tls === undefined || process.stdin.isTTY) process.once("SIGHUP", () => resolve());
    else process.on("SIGHUP", () => void tls.reload());
  });
}
