// Serves the S3 API in processes of its own, one a core, on one port. A process that ends is replaced.
import cluster, { type Worker } from "node:cluster";
import { fileURLToPath } from "node:url";
import type { FromS3Process, OpenS3 } from "./server-messages.ts";

export interface S3ServerOptions {
  /** The store's data directory. */
  readonly location: string;
  readonly host: string;
  readonly port: number;
  readonly processes: number;
  readonly domains: readonly string[];
  /** What credentials are sealed with. */
  readonly secretKey: Uint8Array;
  readonly log: (line: string) => void;
}

export interface S3Server {
  readonly port: number;
  /** Lets requests under way finish. */
  close(): Promise<void>;
}

const program = fileURLToPath(new URL("./server-process.js", import.meta.url));
/** A process that dies at once, again and again, is started again ever more slowly. */
const restartMilliseconds = [0, 100, 500, 2000, 5000];
const endMilliseconds = 60_000;
/**
 * Small nurseries, and heaps that are collected when they have grown by a third: among a thousand uploads the
 * defaults leave 60 MiB more of dead objects, since all that is large lies outside of the heap.
 */
const memoryFlags = ["--max-semi-space-size=4", "--heap-growing-percent=30"];

export async function startS3(options: S3ServerOptions): Promise<S3Server> {
  const { log } = options;
  // The processes take connections from the system themselves. One handed to a process that was just killed would
  // be lost, and its client would wait for ever: nobody tells the module that it was never taken.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({
    exec: program,
    args: [],
    execArgv: [...process.execArgv, ...memoryFlags],
    silent: false,
  });
  const workers = new Set<Worker>();
  let recentDeaths = 0;
  let isClosing = false;

  function start(): Promise<number> {
    // One at a time, so that a burst of connections is shared out.
    const worker = cluster.fork({ UV_TCP_SINGLE_ACCEPT: "1" });
    workers.add(worker);
    const { location, host, port, domains, secretKey } = options;
    const open: OpenS3 = {
      ...{ kind: "open", location, host, port, domains },
      secretKey: Buffer.from(secretKey).toString("base64"),
    };
    return new Promise((resolve, reject) => {
      let isUp = false;
      worker.on("message", (message: FromS3Process) => {
        if (message.kind === "warm") worker.send(open);
        if (message.kind === "log") log(message.line);
        if (message.kind === "failed") {
          reject(Object.assign(new Error(message.message), { code: message.code }));
          // It serves nothing, and another is tried in its place.
          worker.process.kill("SIGKILL");
        }
        if (message.kind === "listening") {
          isUp = true;
          resolve(message.port);
        }
      });
      worker.once("exit", (code, signal) => {
        workers.delete(worker);
        const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
        reject(new Error(`A process of the S3 API did not start: ${how}.`));
        if (isClosing || !isUp) return;
        log(`A process of the S3 API ended (${how}): starting it again.`);
        replace();
      });
    });
  }

  function replace(): void {
    const pause = restartMilliseconds[Math.min(recentDeaths++, restartMilliseconds.length - 1)]!;
    setTimeout(() => recentDeaths--, 10_000).unref();
    setTimeout(() => {
      if (isClosing) return;
      start().catch((error: Error) => {
        log(`${error.message} Trying again.`);
        if (!isClosing) replace();
      });
    }, pause);
  }

  async function close(): Promise<void> {
    isClosing = true;
    await Promise.all([...workers].map(end));
  }

  try {
    // All ask for the same port, also when any will do: the cluster module finds it once.
    const [port] = await Promise.all(Array.from({ length: options.processes }, start));
    return { port: port!, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function end(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(() => worker.process.kill("SIGKILL"), endMilliseconds);
    worker.once("exit", () => {
      clearTimeout(late);
      resolve();
    });
    if (worker.isConnected()) worker.send({ kind: "close" });
    else worker.process.kill("SIGKILL");
  });
}
