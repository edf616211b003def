// A process that runs one script: started warm, given its script, and then on its own beside its own engine.
// It beats while its event loop turns, so that the supervisor knows a blocked script from a busy one.
import type { Socket } from "node:net";
import { pathToFileURL } from "node:url";
import { bindBucket } from "../binding/bind.ts";
import { trustedPeers } from "../http/forwarded.ts";
import { machineMilliseconds } from "../http/handover.ts";
import { type Listening, listen } from "../http/listen.ts";
import { openStreams } from "../http/open-streams.ts";
import { type ChangingTls, createTlsSource } from "../http/tls.ts";
import { createObserver, type Observer } from "../metrics/observer.ts";
import { tellProcess } from "../metrics/process-figures.ts";
import { openEngine } from "../open.ts";
import { installGlobals } from "./globals.ts";
import { createHost, type Environment, type Host, type ScriptHandlers } from "./host.ts";
import {
  beatMilliseconds,
  type FromHost,
  type Load,
  type LoadedScript,
  type NotificationMessage,
  type ToHost,
} from "./host-messages.ts";

/** How long promises given to waitUntil may hold up the end of the process. */
const settleMilliseconds = 30_000;

interface Running {
  readonly host: Host;
  readonly listening: Listening;
  readonly observer: Observer;
  close(): Promise<void>;
}

let running: Running | undefined;
let tls: ChangingTls | undefined;
let isLeaving = false;

function say(message: FromHost): void {
  // A supervisor that is gone ends this process by the disconnect that follows.
  if (process.connected) process.send!(message, undefined, undefined, () => {});
}

async function load({
  script,
  location,
  mode,
  presign,
  socketPath,
  observing,
  ...entrance
}: Load): Promise<void> {
  // Before anything that takes time: the pair may change meanwhile.
  tls = entrance.tls === undefined ? undefined : createTlsSource(entrance.tls);
  const observer = createObserver(observing, say);
  tellProcess(observer.metrics, "script", openStreams);
  const { engine } = await openEngine(location, { metrics: observer.metrics });
  const env: Environment = { ...script.vars, ...script.secrets };
  const { compatibilityDate, compatibilityFlags } = script;
  for (const { binding, bucketName } of script.buckets) {
    env[binding] = bindBucket(engine, bucketName, { compatibilityDate, compatibilityFlags, presign });
  }
  const handlers = await loadHandlers(script);
  const runs = observer.metrics.counter({
    name: "store_script_runs_total",
    help: "Runs of a script's handlers other than fetch.",
    labels: ["script", "handler", "outcome"],
  });
  const host = createHost(handlers, env, mode, {
    script: script.name,
    onExchange: observer.onExchange,
    tellsIds: observing.logs,
    ran: (handler, outcome) => runs(script.name, handler, outcome).add(1),
  });
  const trusted = entrance.trusted.length === 0 ? undefined : trustedPeers(entrance.trusted);
  const listening = await listen(host.handle, { path: socketPath }, { tls, trusted });
  running = { host, listening, observer, close: () => engine.close() };
  setInterval(() => say({ kind: "beat" }), beatMilliseconds).unref();
  const present = (["fetch", "scheduled", "notification"] as const).filter(
    (name) => typeof handlers[name] === "function",
  );
  say({ kind: "ready", handlers: present });
}

async function loadHandlers({ name, bundle }: LoadedScript): Promise<ScriptHandlers> {
  const module = (await import(pathToFileURL(bundle).href)) as { default?: ScriptHandlers };
  const handlers = module.default;
  if (typeof handlers !== "object" || handlers === null) {
    throw new HandlersFault(
      `The script "${name}" must export its handlers by default: export default { fetch() {} }`,
    );
  }
  return handlers;
}

async function drain(): Promise<void> {
  isLeaving = true;
  if (running !== undefined) {
    await running.listening.drain();
    const late = new Promise((resolve) => setTimeout(resolve, settleMilliseconds).unref());
    await Promise.race([running.host.settle(), late]);
    await running.close();
    running.observer.end();
  }
  process.disconnect();
}

function take(id: number, deadline: number, socket: Socket | undefined): void {
  if (running === undefined || isLeaving || socket === undefined || machineMilliseconds() > deadline) {
    // The supervisor has it, too: this closes our end of it only.
    socket?.destroy();
    say({ kind: "connection", id, isTaken: false });
    return;
  }
  say({ kind: "connection", id, isTaken: true });
  running.listening.accept(socket);
}

async function runScheduled(id: number, cron: string, time: number): Promise<void> {
  try {
    await running?.host.scheduled(cron, time);
    say({ kind: "ran", id, error: undefined });
  } catch (error) {
    console.error(error);
    say({ kind: "ran", id, error: messageOf(error) });
  }
}

async function runNotification(id: number, events: readonly NotificationMessage[]): Promise<void> {
  const notified = await running?.host.notification(events);
  if (notified !== undefined) say({ kind: "notified", id, ...notified });
}

/** A fault of the script that no place in it shows. */
class HandlersFault extends TypeError {}

/** Without the lines of whoever loaded it. */
function stackOf(error: unknown): string {
  if (error instanceof HandlersFault || !(error instanceof Error)) return messageOf(error);
  const lines = (error.stack ?? error.message).split("\n");
  return lines.filter((line) => !/^ +at .*(node:internal|host-process)/.test(line)).join("\n");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

process.on("message", (message: ToHost, socket?: Socket) => {
  if (message.kind === "load") {
    load(message).catch((error: unknown) => say({ kind: "failed", message: stackOf(error) }));
  } else if (message.kind === "tls") {
    tls?.change(message.pair);
  } else if (message.kind === "connection") {
    take(message.id, message.deadline, socket);
  } else if (message.kind === "scheduled") {
    void runScheduled(message.id, message.cron, message.time);
  } else if (message.kind === "tell figures" || message.kind === "lines taken") {
    running?.observer.heard(message);
  } else if (message.kind === "notification") {
    void runNotification(message.id, message.events);
  } else if (message.kind === "drain") {
    drain().catch((error: unknown) => {
      console.error(error);
      process.disconnect();
    });
  }
});
// The supervisor decides when a script ends; a signal to the whole group reaches it too.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});
process.on("SIGHUP", () => {});
process.on("disconnect", () => process.exit());
// A fault outside of any request is told and survived, as one inside of a request is.
process.on("uncaughtException", (error) => console.error("Uncaught:", error));
process.on("unhandledRejection", (error) => console.error("Unhandled rejection:", error));

installGlobals({});
say({ kind: "warm" });
