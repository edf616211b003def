// A process that runs one script with its own engine. It is started ahead of time, then receives a
// script. Its heartbeats let the supervisor detect a blocked event loop.
import { Buffer } from "node:buffer";
import console from "node:console";
import process from "node:process";
import { setInterval, setTimeout } from "node:timers";
import { pathToFileURL } from "node:url";
import { connectParent, listenerDescriptor } from "../../child/parent.ts";
import { parseTrustedPeers } from "../../http/server/forwarded.ts";
import { type HttpListener, listen } from "../../http/server/listen.ts";
import { createOpenStreams } from "../../http/server/listener-state.ts";
import { createTlsSource, type MutableTlsSource } from "../../http/tls/tls.ts";
import { registerProcessMetrics } from "../../metrics/process-metrics.ts";
import { createObserver, type Observer } from "../../metrics/reporter.ts";
import type { ToObserver } from "../../metrics/reporter-messages.ts";
import { errorMessage } from "../../model/errors.ts";
import { openEngine } from "../../open.ts";
import { openAssets } from "../assets/assets.ts";
import { runtimeBehaviour } from "../config/runtime-flags.ts";
import { PromiseRejectionEvent } from "../globals/event-classes.ts";
import { installGlobals } from "../globals/install.ts";
import { installNavigator } from "../globals/navigator.ts";
import { createEnvironment, type Environment } from "./environment.ts";
import type { HostObserver } from "./exchange.ts";
import { findHandlers, handlerNames } from "./handlers.ts";
import { HandlersFault } from "./handlers-fault.ts";
import { createHost, type Host, type ScriptHandlers } from "./host.ts";
import {
  type FromHost,
  heartbeatMilliseconds,
  type Load,
  type LoadedScript,
  maxMessageText,
  type NotificationMessage,
  type ToHost,
} from "./messages.ts";
import { createPendingWork } from "./pending-work.ts";
import { usePlatformClassNames } from "./platform/class-names.ts";
import { installPlatformValues } from "./platform/values.ts";
import { fillProcessEnv } from "./process-env.ts";
import { logError } from "./script-error.ts";
import { defineBindings } from "./service-worker.ts";
import { withAssets } from "./with-assets.ts";

/** Maximum time that promises passed to waitUntil may delay the exit of the process. */
const settleMilliseconds = 30_000;

interface ActiveHost {
  readonly host: Host;
  readonly observer: Observer;
  /** Undefined until the process accepts connections. */
  listener: HttpListener | undefined;
  /** Accepts connections on the inherited port. */
  accept(): Promise<void>;
  close(): Promise<void>;
}

let activeHost: ActiveHost | undefined;
let tls: MutableTlsSource | undefined;

function send(message: FromHost): void {
  parent.send(message);
}

async function load({
  script,
  location,
  mode,
  presign,
  openUploads,
  encryption,
  socketPath,
  observing,
  ...portSettings
}: Load): Promise<void> {
  // Read certificate and key first: they may change during the slower steps that follow.
  tls = portSettings.tls === undefined ? undefined : createTlsSource(portSettings.tls);
  const observer = createObserver(observing, send);
  const streams = createOpenStreams();
  registerProcessMetrics(observer.metrics, "script", streams);
  const { engine } = await openEngine(location, {
    ...{ metrics: observer.metrics, openUploads, encryption: encryption?.encrypt },
    secretKey: encryption && Buffer.from(encryption.secretKey, "base64"),
  });
  const assets =
    script.assets === undefined ? undefined : await openAssets(script.assets, { mode, location });
  const env = createEnvironment(script, { engine, presign, assets });
  const pending = createPendingWork();
  const handlers = await loadHandlers(script, env, pending.waitUntil);
  const runs = observer.metrics.counter({
    name: "store_script_runs_total",
    help: "Runs of a script's handlers other than fetch.",
    labels: ["script", "handler", "outcome"],
  });
  const hostObserver: HostObserver = {
    script: script.name,
    onExchange: observer.onExchange,
    sendsRequestId: observing.logs,
    onRun: (handler, outcome) => runs(script.name, handler, outcome).add(1),
  };
  const host = createHost({ handlers, env, mode, pending, observer: hostObserver });
  const handle =
    assets === undefined
      ? host.handle
      : withAssets({
          ...{ assets, options: script.assets!, observer: hostObserver, refuse: host.handle },
          script: script.bundle === undefined ? undefined : host.handle,
          compatibilityDate: script.compatibilityDate,
          compatibilityFlags: script.compatibilityFlags,
        });
  const closeAll = () => {
    assets?.close();
    return engine.close();
  };
  const trusted = portSettings.trusted.length === 0 ? undefined : parseTrustedPeers(portSettings.trusted);
  const { limits, probe } = portSettings;
  const current: ActiveHost = {
    ...{ host, observer, close: closeAll },
    // With a router, the router enforces the limits of the port.
    listener:
      socketPath === undefined
        ? undefined
        : await listen(
            handle,
            { path: socketPath },
            { trusted, streams, nodeInternals: limits.nodeInternals },
          ),
    async accept() {
      const options = { tls, trusted, limits, probe, streams };
      current.listener = await listen(handle, { fd: listenerDescriptor }, options);
    },
  };
  activeHost = current;
  setInterval(() => send({ kind: "beat" }), heartbeatMilliseconds).unref();
  const presentHandlers = handlerNames.filter((name) => typeof handlers[name] === "function");
  send({ kind: "ready", handlers: presentHandlers });
}

/** Sets up everything that top-level code of the script may use, then imports the script. */
async function loadHandlers(
  script: LoadedScript,
  env: Environment,
  waitUntil: (promise: Promise<unknown>) => void,
): Promise<ScriptHandlers> {
  if (script.bundle === undefined) return {};
  installPlatformValues({ env, waitUntil });
  const { platform, populatesProcessEnv } = runtimeBehaviour(script);
  if (platform === "workers") {
    installNavigator("Cloudflare-Workers");
    usePlatformClassNames();
  }
  if (populatesProcessEnv) fillProcessEnv(script);
  const isServiceWorker = script.format === "service-worker";
  if (isServiceWorker) defineBindings(env);
  const module = (await import(pathToFileURL(script.bundle).href)) as { default?: unknown };
  return findHandlers(script.name, isServiceWorker ? undefined : module.default, events);
}

async function drain(): Promise<void> {
  if (activeHost !== undefined) {
    await activeHost.listener?.drain();
    const timeout = new Promise((resolve) => setTimeout(resolve, settleMilliseconds).unref());
    await Promise.race([activeHost.host.settle(), timeout]);
    await activeHost.close();
    activeHost.observer.end();
  }
  parent.exit();
}

async function run(id: number, work: (current: ActiveHost) => Promise<void>): Promise<void> {
  try {
    if (activeHost === undefined) throw new Error("No script is loaded.");
    await work(activeHost);
    send({ kind: "ran", id, error: undefined });
  } catch (error) {
    logError(error);
    send({ kind: "ran", id, error: shortMessage(error) });
  }
}

async function runNotification(id: number, events: readonly NotificationMessage[]): Promise<void> {
  const result = await activeHost?.host.notification(events);
  if (result === undefined) return;
  send({ kind: "notified", id, ...result, error: result.error?.slice(0, maxMessageText) });
}

/** An error is logged: a script can break what metrics need, and the process serves without them. */
function observe(message: ToObserver): void {
  try {
    activeHost?.observer.receive(message);
  } catch (error) {
    logError(error, "Metrics:");
  }
}

/** Returns the stack trace without frames of the module loader. */
function formatStack(error: unknown): string {
  if (error instanceof HandlersFault || !(error instanceof Error)) return shortMessage(error);
  const lines = (error.stack ?? error.message).split("\n");
  return lines.filter((line) => !/^ +at .*(node:internal|script\/host\/worker)/.test(line)).join("\n");
}

function shortMessage(error: unknown): string {
  return errorMessage(error).slice(0, maxMessageText);
}

const parent = connectParent<ToHost, FromHost>((message) => {
  if (message.kind === "load") {
    load(message).catch((error: unknown) =>
      send({ kind: "failed", message: formatStack(error).slice(0, maxMessageText) }),
    );
  } else if (message.kind === "tls") {
    tls?.change(message.pair);
  } else if (message.kind === "accept") {
    void run(message.id, (current) => current.accept());
  } else if (message.kind === "scheduled") {
    const { cron, time } = message;
    void run(message.id, (current) => current.host.scheduled(cron, time));
  } else if (message.kind === "report metrics" || message.kind === "lines taken") {
    observe(message);
  } else if (message.kind === "notification") {
    void runNotification(message.id, message.events);
  } else {
    drain().catch((error: unknown) => {
      console.error(error);
      process.exit(1);
    });
  }
});
// Ignored: the supervisor ends this process, and a signal to the process group also reaches it.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});
process.on("SIGHUP", () => {});
// Logs errors outside of requests; the process keeps running.
process.on("uncaughtException", (error) => logError(error, "Uncaught:"));
process.on("unhandledRejection", (reason, promise) => {
  const event = new PromiseRejectionEvent("unhandledrejection", { reason, promise, cancelable: true });
  if (events.scope.dispatchEvent(event)) logError(reason, "Unhandled rejection:");
});

const events = installGlobals({});
send({ kind: "warm" });
