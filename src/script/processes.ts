// The processes that run scripts, as the supervisor holds them: started warm ahead of need, so that a script
// is loaded in the time of an import rather than of a process.
import { type ChildProcess, fork } from "node:child_process";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { createHandover } from "../http/handover.ts";
import type { TlsSource } from "../http/tls.ts";
import type { Watch, Watched } from "../metrics/watch.ts";
import type { FromHost, Load, NotificationMessage, Notified, ToHost } from "./host-messages.ts";

/** What is to be loaded; how it is reached is the same for all. */
export type ScriptLoad = Omit<Load, keyof Entrance>;
type Entrance = Pick<Load, "tls" | "trusted" | "observing">;

export interface HostProcess {
  /** Loads a script; rejects with the script's own words when it cannot be loaded. */
  load(load: ScriptLoad): Promise<void>;
  /** Runs the scheduled handler once; rejects with what it threw. */
  scheduled(cron: string, time: number): Promise<void>;
  /** Runs the notification handler for each; rejects when the process ends meanwhile. */
  notify(events: readonly NotificationMessage[]): Promise<Notified>;
  /** How long the event loop has not turned. */
  silence(): number;
  /** Hands over a connection of which nothing was read; one that it does not take stays with the caller. */
  offer(socket: Socket): Promise<boolean>;
  /** Lets it finish and end. */
  drain(): void;
  kill(): void;
  /** Nobody waits for it any more: it has blocked. One that has ended is given up by itself. */
  giveUp(): void;
  /** Gives what takes the listener back. */
  onGivenUp(listener: () => void): () => void;
  /** Resolves with words on how it ended. */
  readonly ended: Promise<string>;
}

export interface Processes {
  /** A warm process, for the script of this name; the next one is started at once. */
  take(script: string): Promise<HostProcess>;
  close(): Promise<void>;
}

export interface ProcessOptions {
  /** A script that grows beyond this many megabytes of heap dies and is replaced. */
  readonly heapMegabytes: number;
  /** What a script writes to its console, line by line. */
  readonly onOutput: (script: string, line: string, stream: "stdout" | "stderr") => void;
  /** What connections that are handed over are secured with, if they are. */
  readonly tls: TlsSource | undefined;
  /** Proxies whose word on the sender of a request is taken. */
  readonly trusted: readonly string[];
  /** Who is told what the processes count, and given the lines of the request log. */
  readonly watch: Watch;
}

/** A script cannot be loaded: in its own words, with the stack of what it threw. */
export class LoadError extends Error {
  override readonly name = "LoadError";
}

interface Warm {
  readonly process: HostProcess;
  assign(script: string): void;
}

const program = fileURLToPath(new URL("./host-process.js", import.meta.url));

export function createProcesses(options: ProcessOptions): Processes {
  const { heapMegabytes, onOutput } = options;
  let spare: Promise<Warm> | undefined;
  let closed = false;

  function start(): Promise<Warm> {
    let script = "script";
    const child = fork(program, [], {
      execArgv: ["--enable-source-maps", `--max-old-space-size=${heapMegabytes}`],
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    for (const stream of ["stdout", "stderr"] as const) {
      forEachLine(child[stream]!, (line) => onOutput(script, line, stream));
    }
    const process = hostProcess(child, options);
    const assign = (name: string) => {
      script = name;
    };
    return new Promise((resolve, reject) => {
      child.once("message", () => resolve({ process, assign }));
      void process.ended.then((how) => reject(new Error(`A script process did not start: ${how}.`)));
    });
  }

  function keepSpare(): void {
    if (closed || spare !== undefined) return;
    const started = start();
    spare = started;
    const forget = () => {
      if (spare === started) spare = undefined;
    };
    // One that dies unused is missed when it is needed, and then another is started.
    started.then(({ process }) => process.ended).then(forget, forget);
  }

  return {
    async take(script) {
      const taken = spare ?? start();
      spare = undefined;
      const { process, assign } = await taken;
      assign(script);
      keepSpare();
      return process;
    },
    async close() {
      closed = true;
      (await spare?.catch(() => undefined))?.process.kill();
    },
  };
}

function hostProcess(
  child: ChildProcess,
  { tls, trusted, watch }: Pick<ProcessOptions, "tls" | "trusted" | "watch">,
): HostProcess {
  let watched: Watched | undefined;
  let lastBeat = Date.now();
  let isGivenUp = false;
  let nextRun = 1;
  const runs = new Map<number, (error: string | undefined) => void>();
  const notifying = new Map<number, { resolve(notified: Notified): void; reject(error: Error): void }>();
  const givingUp = new Set<() => void>();
  const loaded: { settle: (message: FromHost) => void } = { settle: () => {} };
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
    child.on("error", (error) => resolve(error.message));
  });
  void ended.then((how) => {
    giveUp();
    // All at once, and not one listener each: there are many in the life of a process.
    for (const { reject } of notifying.values()) reject(new Error(`the process ended while it ran: ${how}`));
    notifying.clear();
  });
  const forget = tls?.onChange((pair) => say({ kind: "tls", pair }));
  void ended.then(forget);

  child.on("message", (message: FromHost) => {
    lastBeat = Date.now();
    if (message.kind === "ready" || message.kind === "failed") loaded.settle(message);
    if (message.kind === "figures" || message.kind === "request lines") watched?.heard(message);
    if (message.kind === "connection") handover.answered(message.id, message.isTaken);
    if (message.kind === "notified") {
      notifying.get(message.id)?.resolve(message);
      notifying.delete(message.id);
    }
    if (message.kind === "ran") {
      runs.get(message.id)?.(message.error);
      runs.delete(message.id);
    }
  });

  function say(message: ToHost, socket?: Socket): void {
    // What it does not get any more because it is ending, it does not miss.
    if (child.connected) child.send(message, socket, { keepOpen: true }, () => {});
  }

  const handover = createHandover((id, deadline, socket) =>
    say({ kind: "connection", id, deadline }, socket),
  );

  function giveUp(): void {
    if (isGivenUp) return;
    isGivenUp = true;
    for (const listener of givingUp) listener();
    givingUp.clear();
  }

  return {
    load: (load) =>
      new Promise((resolve, reject) => {
        loaded.settle = (message) => {
          if (message.kind === "failed") return reject(new LoadError(message.message));
          // Not before: one that is still loading would keep those waiting who ask for figures.
          watched = watch.join(say);
          // Behind the last that it has said.
          child.once("disconnect", watched.left);
          resolve();
        };
        void ended.then((how) =>
          reject(new LoadError(`The script ended while it was being loaded: ${how}.`)),
        );
        lastBeat = Date.now();
        say({ ...load, tls: tls?.current(), trusted, observing: watch.observing });
      }),
    scheduled: (cron, time) =>
      new Promise((resolve, reject) => {
        const id = nextRun++;
        runs.set(id, (error) => (error === undefined ? resolve() : reject(new Error(error))));
        void ended.then((how) => reject(new Error(`The process ended while it ran: ${how}.`)));
        say({ kind: "scheduled", id, cron, time });
      }),
    notify: (events) =>
      new Promise((resolve, reject) => {
        const id = nextRun++;
        notifying.set(id, { resolve, reject });
        if (isGivenUp) reject(new Error("the process has ended"));
        else say({ kind: "notification", id, events });
      }),
    silence: () => Date.now() - lastBeat,
    offer: async (socket) => !isGivenUp && handover.offer(socket),
    drain: () => say({ kind: "drain" }),
    kill() {
      child.kill("SIGKILL");
    },
    giveUp,
    onGivenUp(listener) {
      if (isGivenUp) queueMicrotask(listener);
      else givingUp.add(listener);
      return () => givingUp.delete(listener);
    },
    ended,
  };
}

function forEachLine(stream: NodeJS.ReadableStream, line: (text: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    for (const complete of lines) line(complete);
  });
  stream.on("end", () => {
    if (rest !== "") line(rest);
  });
}
