// A process that runs one script: started warm, given its script, and then on its own beside its own engine.
// It beats while its event loop turns, so that the supervisor knows when the script blocks it.
import { pathToFileURL } from "node:url";
import { connectParent, listenerDescriptor } from "../../child/parent.ts";
import { trustedPeers } from "../../http/server/forwarded.ts";
import { type Listening, listen } from "../../http/server/listen.ts";
import { openStreams } from "../../http/server/open-streams.ts";
import { type ChangingTls, createTlsSource } from "../../http/tls/tls.ts";
import { tellProcess } from "../../metrics/process-metrics.ts";
import { createObserver, type Observer } from "../../metrics/reporter.ts";
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
  beatMilliseconds,
  type FromHost,
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

/** How long promises given to waitUntil may hold up the end of the process. */
const settleMilliseconds = 30_000;

interface Running {
  readonly host: Host;
  readonly observer: Observer;
  /** Undefined until it accepts. */
  listening: Listening | undefined;
  /** Accepts connections on the inherited port. */
  accept(): Promise<void>;
  close(): Promise<void>;
}

let running: Running | undefined;
let tls: ChangingTls | undefined;

function say(message: FromHost): void {
  parent.send(message);
}

async function load({
  script,
  location,
  mode,
  presign,
  openUploads,
  socketPath,
  observing,
  ...entrance
}: Load): Promise<void> {
  // Before anything that takes time: the pair may change meanwhile.
  tls = entrance.tls === undefined ? undefined : createTlsSource(entrance.tls);
  const observer = createObserver(observing, say);
  tellProcess(observer.metrics, "script", openStreams);
  const { engine } = await openEngine(location, { metrics: observer.metrics, openUploads });
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
    tellsIds: observing.logs,
    ran: (handler, outcome) => runs(script.name, handler, outcome).add(1),
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
  const trusted = entrance.trusted.length === 0 ? undefined : trustedPeers(entrance.trusted);
  const { limits, probe } = entrance;
  const current: Running = {
    ...{ host, observer, close: closeAll },
    // The front has limits of its own, and forwards no more than those.
    listening: socketPath === undefined ? undefined : await listen(handle, { path: socketPath }, { trusted }),
    async accept() {
      const options = { tls, trusted, limits, probe };
      current.listening = await listen(handle, { fd: listenerDescriptor }, options);
    },
  };
  running = current;
  setInterval(() => say({ kind: "beat" }), beatMilliseconds).unref();
  const present = handlerNames.filter((name) => typeof handlers[name] === "function");
  say({ kind: "ready", handlers: present });
}

/** What the script's top level uses must be there before it is imported. */
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
  if (running !== undefined) {
    await running.listening?.drain();
    const late = new Promise((resolve) => setTimeout(resolve, settleMilliseconds).unref());
    await Promise.race([running.host.settle(), late]);
    await running.close();
    running.observer.end();
  }
  parent.leave();
}

async function run(id: number, work: (current: Running) => Promise<void>): Promise<void> {
  try {
    if (running === undefined) throw new Error("No script is loaded.");
    await work(running);
    say({ kind: "ran", id, error: undefined });
  } catch (error) {
    logError(error);
    say({ kind: "ran", id, error: messageOf(error) });
  }
}

async function runNotification(id: number, events: readonly NotificationMessage[]): Promise<void> {
  const notified = await running?.host.notification(events);
  if (notified === undefined) return;
  say({ kind: "notified", id, ...notified, error: notified.error?.slice(0, maxMessageText) });
}

/** Without the lines of whoever loaded it. */
function stackOf(error: unknown): string {
  if (error instanceof HandlersFault || !(error instanceof Error)) return messageOf(error);
  const lines = (error.stack ?? error.message).split("\n");
  return lines.filter((line) => !/^ +at .*(node:internal|host-process)/.test(line)).join("\n");
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, maxMessageText);
}

const parent = connectParent<ToHost, FromHost>((message) => {
  if (message.kind === "load") {
    load(message).catch((error: unknown) =>
      say({ kind: "failed", message: stackOf(error).slice(0, maxMessageText) }),
    );
  } else if (message.kind === "tls") {
    tls?.change(message.pair);
  } else if (message.kind === "accept") {
    void run(message.id, (current) => current.accept());
  } else if (message.kind === "scheduled") {
    const { cron, time } = message;
    void run(message.id, (current) => current.host.scheduled(cron, time));
  } else if (message.kind === "tell figures" || message.kind === "lines taken") {
    running?.observer.heard(message);
  } else if (message.kind === "notification") {
    void runNotification(message.id, message.events);
  } else {
    drain().catch((error: unknown) => {
      console.error(error);
      process.exit(1);
    });
  }
});
// The supervisor decides when a script ends; a signal to the whole group reaches it too.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});
process.on("SIGHUP", () => {});
// A fault outside of any request is told and survived, as one inside of a request is.
process.on("uncaughtException", (error) => logError(error, "Uncaught:"));
process.on("unhandledRejection", (reason, promise) => {
  const event = new PromiseRejectionEvent("unhandledrejection", { reason, promise, cancelable: true });
  if (events.scope.dispatchEvent(event)) logError(reason, "Unhandled rejection:");
});

const events = installGlobals({});
say({ kind: "warm" });
