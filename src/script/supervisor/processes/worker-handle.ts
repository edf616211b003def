// Starts a process that runs a script, and exchanges messages with it.
import { fileURLToPath } from "node:url";
import { scriptEnvironment } from "../../../child/environment.ts";
import { type Child, type StartMessage, startChild } from "../../../child/start-child.ts";
import type { PortOptions } from "../../../http/port-options.ts";
import type { SharedListener } from "../../../http/server/shared-listener.ts";
import type { Watch, WatchedProcess } from "../../../metrics/collector.ts";
import { type HostProcess, LoadError } from "../../host/host-process.ts";
import { type FromHost, parseFromHost, type ToHost } from "../../host/messages.ts";
import { scriptLines } from "../request-lines.ts";

/** `limits` apply to each process. */
export interface HostOptions extends PortOptions {
  /** Heap limit; a script that exceeds it dies and is replaced. */
  readonly heapMegabytes: number;
  /** Receives each line of a script's console output. */
  readonly onOutput: (script: string, line: string, stream: "stdout" | "stderr") => void;
  /** Environment of this server; processes of scripts receive only common variables. */
  readonly environment: NodeJS.ProcessEnv;
  /** The port on which processes accept connections; undefined when a router forwards requests. */
  readonly listener: SharedListener | undefined;
  /** Receives the metrics of the processes and the lines of the request log. */
  readonly watch: Watch;
  readonly log: (line: string) => void;
}

export interface WarmHost {
  readonly process: HostProcess;
  /** Sets the name of the script, for logs. */
  assign(script: string): void;
  /** Resolves when the process waits for a script; rejects if the process has exited. */
  readonly warm: Promise<void>;
}

type HostMessage = Exclude<FromHost, StartMessage>;

/** Limits the young generation to half of V8's default, because it never shrinks after a burst. */
const memoryFlags = ["--max-semi-space-size=8"];

/** Node 20 needs these flags for WebSocket and EventSource; later versions may not accept them. */
const clientFlags = ["--experimental-websocket", "--experimental-eventsource"].filter((flag) =>
  process.allowedNodeEnvironmentFlags.has(flag),
);

const program = fileURLToPath(new URL("../../host/worker.js", import.meta.url));

export function startHost(options: HostOptions): WarmHost {
  const { heapMegabytes, tls, trusted, watch, limits, probe } = options;
  let script = "";
  let watched: WatchedProcess | undefined;
  let isAbandoned = false;
  let nextRun = 1;
  /** Handler runs in flight, by the id of their message. */
  const runs = new Map<number, { resolve(message: FromHost): void; reject(error: Error): void }>();
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

  /** Sends a message, and waits for the response with the same id. */
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
    async load({ modules: _, sourceMap: __, ...load }) {
      child.standstill.beat();
      child.send({ ...load, tls: tls?.current(), trusted, observing: watch.observing, limits, probe });
      await child.ready.catch((error: Error) => {
        throw new LoadError(error.message);
      });
      // Collect metrics only after loading: a loading process would delay every metrics request.
      watched = watch.join((message) => child.send(message));
      void child.disconnected.then(watched.remove);
    },
    accept: () => runToEnd((id) => ({ kind: "accept", id })),
    scheduled: (cron, time) => runToEnd((id) => ({ kind: "scheduled", id, cron, time })),
    async notify(events) {
      const result = await run((id) => ({ kind: "notification", id, events }));
      if (result.kind !== "notified") throw new Error("The process sent another response.");
      // Ignore indexes of events that were not sent: a script can write to its process's pipe.
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
