// The processes that run scripts, as the supervisor holds them: forked warm ahead of need, so that a script
// is loaded in the time of an import rather than of a process.
import cluster, { type Worker } from "node:cluster";
import { fileURLToPath } from "node:url";
import type { FromHost, Load, ToHost } from "./host-messages.ts";

export interface HostProcess {
  readonly id: number;
  /** Which handlers the script has; known once it is ready. */
  readonly handlers: readonly string[];
  readonly port: number | undefined;
  /** Loads a script; rejects with the script's own words when it cannot be loaded. */
  load(load: Load): Promise<void>;
  /** Runs the scheduled handler once; rejects with what it threw. */
  scheduled(cron: string, time: number): Promise<void>;
  /** How long the event loop has not turned. */
  silence(): number;
  /** Lets it finish and end; resolves when it is gone. */
  drain(): Promise<void>;
  kill(): void;
  /** Resolves with words on how it ended. */
  readonly ended: Promise<string>;
}

export interface Processes {
  /** A warm process; the next one is started at once. */
  take(): Promise<HostProcess>;
  close(): Promise<void>;
}

export interface ProcessOptions {
  /** A script that grows beyond this many megabytes of heap dies and is replaced. */
  readonly heapMegabytes: number;
  /** What a script writes to its console, line by line. */
  readonly onOutput: (id: number, line: string, stream: "stdout" | "stderr") => void;
}

export function createProcesses({ heapMegabytes, onOutput }: ProcessOptions): Processes {
  cluster.setupPrimary({
    exec: fileURLToPath(new URL("./host-process.js", import.meta.url)),
    args: [],
    execArgv: ["--enable-source-maps", `--max-old-space-size=${heapMegabytes}`],
    silent: true,
  });
  let spare: Promise<HostProcess> | undefined;
  let closed = false;

  function start(): Promise<HostProcess> {
    const worker = cluster.fork();
    for (const stream of ["stdout", "stderr"] as const) {
      forEachLine(worker.process[stream]!, (line) => onOutput(worker.id, line, stream));
    }
    return warm(worker);
  }

  return {
    async take() {
      const taken = spare ?? start();
      spare = undefined;
      const process = await taken;
      if (!closed) {
        spare ??= start();
        // A spare that dies unused is found missing when it is taken.
        spare.catch(() => {});
      }
      return process;
    },
    async close() {
      closed = true;
      (await spare?.catch(() => undefined))?.kill();
    },
  };
}

function warm(worker: Worker): Promise<HostProcess> {
  const process = hostProcess(worker);
  return new Promise((resolve, reject) => {
    worker.once("message", () => resolve(process));
    void process.ended.then((how) => reject(new Error(`A script process did not start: ${how}.`)));
  });
}

function hostProcess(worker: Worker): HostProcess {
  let lastBeat = Date.now();
  let ready: Extract<FromHost, { kind: "ready" }> | undefined;
  const runs = new Map<number, (error: string | undefined) => void>();
  let nextRun = 1;
  const ended = new Promise<string>((resolve) => {
    worker.once("exit", (code, signal) =>
      resolve(signal === null ? `exit code ${code}` : `signal ${signal}`),
    );
  });
  const loaded: { settle: (message: FromHost) => void } = { settle: () => {} };

  worker.on("message", (message: FromHost) => {
    lastBeat = Date.now();
    if (message.kind === "ready") ready = message;
    if (message.kind === "ready" || message.kind === "failed") loaded.settle(message);
    if (message.kind === "ran") {
      runs.get(message.id)?.(message.error);
      runs.delete(message.id);
    }
  });

  function say(message: ToHost): void {
    if (worker.isConnected()) worker.send(message);
  }

  return {
    id: worker.id,
    get handlers() {
      return ready?.handlers ?? [];
    },
    get port() {
      return ready?.port;
    },
    load: (load) =>
      new Promise((resolve, reject) => {
        loaded.settle = (message) =>
          message.kind === "failed" ? reject(new Error(message.message)) : resolve();
        void ended.then((how) => reject(new Error(`The script ended while it was being loaded: ${how}.`)));
        lastBeat = Date.now();
        say(load);
      }),
    scheduled: (cron, time) =>
      new Promise((resolve, reject) => {
        const id = nextRun++;
        runs.set(id, (error) => (error === undefined ? resolve() : reject(new Error(error))));
        void ended.then((how) => reject(new Error(`The process ended while it ran: ${how}.`)));
        say({ kind: "scheduled", id, cron, time });
      }),
    silence: () => Date.now() - lastBeat,
    async drain() {
      say({ kind: "drain" });
      await ended;
    },
    kill() {
      worker.process.kill("SIGKILL");
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
