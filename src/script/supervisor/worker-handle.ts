// One process that runs a script, as the supervisor holds it.
import { fileURLToPath } from "node:url";
import { scriptEnvironment } from "../../child/environment.ts";
import type { Standstill } from "../../child/standstill.ts";
import { type Child, type StartMessage, startChild } from "../../child/start-child.ts";
import type { SharedListener } from "../../http/server/shared-listener.ts";
import type { TlsSource } from "../../http/tls/tls.ts";
import type { Watch, WatchedProcess } from "../../metrics/collector.ts";
import {
  type FromHost,
  type Load,
  type NotificationMessage,
  type NotificationResult,
  parseFromHost,
  type ToHost,
} from "../host/messages.ts";
import { scriptLines } from "./request-lines.ts";

/** What is to be loaded; how it is reached is the same for all. */
export type ScriptLoad = Omit<Load, keyof PortSettings>;
type PortSettings = Pick<Load, "tls" | "trusted" | "observing" | "limits" | "probe">;

export interface HostProcess {
  /** Loads a script; rejects with the script's own words when it cannot be loaded. */
  load(load: ScriptLoad): Promise<void>;
  /** Accepts connections on the shared port from now on. */
  accept(): Promise<void>;
  /** Runs the scheduled handler once; rejects with what it threw. */
  scheduled(cron: string, time: number): Promise<void>;
  /** Runs the notification handler for each; rejects when the process ends meanwhile. */
  notify(events: readonly NotificationMessage[]): Promise<NotificationResult>;
  /** Since when its event loop stands still, if it does. */
  standstill(): Promise<Standstill>;
  /** Lets it finish and end. */
  drain(): void;
  kill(): void;
  /** Requests that it has not begun with go elsewhere: it has blocked. A process that has ended is given up by itself. */
  abandon(): void;
  /** Returns the function that removes the listener. */
  onAbandoned(listener: () => void): () => void;
  /** Resolves with how it ended, in words. */
  readonly ended: Promise<string>;
}

/** `limits` are those of each process. */
export interface HostOptions extends Pick<Load, "trusted" | "limits" | "probe"> {
  /** A script that grows beyond this many megabytes of heap dies and is replaced. */
  readonly heapMegabytes: number;
  /** What a script writes to its console, line by line. */
  readonly onOutput: (script: string, line: string, stream: "stdout" | "stderr") => void;
  /** The variables of this server's environment; scripts get those that every program needs. */
  readonly environment: NodeJS.ProcessEnv;
  /** The port that processes accept on themselves; undefined behind a front. */
  readonly listener: SharedListener | undefined;
  readonly tls: TlsSource | undefined;
  /** Receives what the processes count, and the lines of the request log. */
  readonly watch: Watch;
  readonly log: (line: string) => void;
}

/** A script cannot be loaded: in its own words, with the stack of what it threw. */
export class LoadError extends Error {
  override readonly name = "LoadError";
}

export interface WarmHost {
  readonly process: HostProcess;
  /** Names the script that it will run. */
  assign(script: string): void;
  /** Resolves when it waits for a script; rejects when it ended before. */
  readonly warm: Promise<void>;
}

type HostMessage = Exclude<FromHost, StartMessage>;

interface PendingRun {
  resolve(message: FromHost): void;
  reject(error: Error): void;
}

/** Half of the default: a nursery that has grown in a burst is kept. */
const memoryFlags = ["--max-semi-space-size=8"];

/** Node 20 has WebSocket and EventSource only with these; later versions may not know them any more. */
const clientFlags = ["--experimental-websocket", "--experimental-eventsource"].filter((flag) =>
  process.allowedNodeEnvironmentFlags.has(flag),
);

const program = fileURLToPath(new URL("../host/worker.js", import.meta.url));

export function startHost(options: HostOptions): WarmHost {
  const { heapMegabytes, tls, trusted, watch, limits, probe } = options;
  let script = "";
  let watched: WatchedProcess | undefined;
  let isAbandoned = false;
  let nextRun = 1;
  /** Runs of handlers, by the id of their message. */
  const runs = new Map<number, PendingRun>();
  const abandonListeners = new Set<() => void>();

  const child: Child<ToHost> = startChild<HostMessage, ToHost>({
    title: () => (script === "" ? "A process for scripts" : `The process of script "${script}"`),
    program,
    nodeOptions: [
      "--enable-source-maps",
      `--max-old-space-size=${heapMegabytes}`,
      ...memoryFlags,
      ...clientFlags,
    ],
    environment: scriptEnvironment(options.environment),
    listener: options.listener?.handle,
    parse: parseFromHost,
    onMessage,
    onLine: (line, stream) => options.onOutput(script === "" ? "script" : script, line, stream),
    log: options.log,
  });

  function onMessage(message: HostMessage): void {
    if (message.kind === "metrics") watched?.receive(message);
    else if (message.kind === "request lines") {
      watched?.receive({ kind: message.kind, text: scriptLines(message.text, script) });
    } else if (message.kind === "ran" || message.kind === "notified") {
      runs.get(message.id)?.resolve(message);
      runs.delete(message.id);
    }
  }

  function abandon(): void {
    if (isAbandoned) return;
    isAbandoned = true;
    for (const listener of abandonListeners) listener();
    abandonListeners.clear();
  }

  const unsubscribeTls = tls?.onChange((pair) => child.send({ kind: "tls", pair }));
  void child.ended.then((exitDescription) => {
    unsubscribeTls?.();
    abandon();
    for (const { reject } of runs.values())
      reject(new Error(`The process ended while it ran: ${exitDescription}.`));
    runs.clear();
  });

  /** Sends a message that is answered under its id. */
  function run(message: (id: number) => ToHost): Promise<FromHost> {
    return new Promise((resolve, reject) => {
      const id = nextRun++;
      if (isAbandoned) return reject(new Error("The process has ended."));
      runs.set(id, { resolve, reject });
      child.send(message(id));
    });
  }

  async function runToEnd(message: (id: number) => ToHost): Promise<void> {
    const ran = await run(message);
    if (ran.kind === "ran" && ran.error !== undefined) throw new Error(ran.error);
  }

  const hostProcess: HostProcess = {
    async load(load) {
      child.standstill.beat();
      child.send({ ...load, tls: tls?.current(), trusted, observing: watch.observing, limits, probe });
      await child.ready.catch((error: Error) => {
        throw new LoadError(error.message);
      });
      // Not earlier: a process that is still loading would delay those who ask for metrics.
      watched = watch.join((message) => child.send(message));
      void child.disconnected.then(watched.remove);
    },
    accept: () => runToEnd((id) => ({ kind: "accept", id })),
    scheduled: (cron, time) => runToEnd((id) => ({ kind: "scheduled", id, cron, time })),
    async notify(events) {
      const result = await run((id) => ({ kind: "notification", id, events }));
      if (result.kind !== "notified") throw new Error("The process answered something else.");
      // An index that was not sent stands for nothing.
      return { ...result, handled: result.handled.filter((index) => index < events.length) };
    },
    standstill: () => child.standstill.measure(),
    drain: () => child.send({ kind: "drain" }),
    kill: () => child.kill(),
    abandon,
    onAbandoned(listener) {
      if (isAbandoned) queueMicrotask(listener);
      else abandonListeners.add(listener);
      return () => abandonListeners.delete(listener);
    },
    ended: child.ended,
  };
  return {
    process: hostProcess,
    assign(name) {
      script = name;
    },
    warm: child.warm,
  };
}
