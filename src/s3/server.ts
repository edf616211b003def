// Serves the S3 API in processes of its own, one a core. The connections to the port are accepted here and handed to
// the processes in turn; a process that ends is replaced.
import type { Socket } from "node:net";
import { openDoor } from "../http/door.ts";
import { type S3Process, type S3ProcessOptions, startProcess } from "./process.ts";

export interface S3ServerOptions extends S3ProcessOptions {
  readonly host: string;
  readonly port: number;
  readonly processes: number;
}

export interface S3Server {
  readonly port: number;
  /** Whether there is a process that serves. */
  isUp(): boolean;
  /** Lets requests under way finish. */
  close(): Promise<void>;
}

/** A process that dies at once, again and again, is started again ever more slowly. */
const restartMilliseconds = [0, 100, 500, 2000, 5000];

export async function startS3(options: S3ServerOptions): Promise<S3Server> {
  const { log, host, port } = options;
  let processes: S3Process[] = [];
  let waiting: (() => void)[] = [];
  let recentDeaths = 0;
  let isClosing = false;

  const starting = new Set<Promise<void>>();

  function start(): Promise<void> {
    const started = launch().finally(() => starting.delete(started));
    starting.add(started);
    return started;
  }

  async function launch(): Promise<void> {
    const process = await startProcess(options);
    if (isClosing) return process.end();
    processes.push(process);
    for (const wake of waiting) wake();
    waiting = [];
    void process.ended.then((how) => {
      processes = processes.filter((one) => one !== process);
      if (isClosing) return;
      log(`A process of the S3 API ended (${how}): starting it again.`);
      replace();
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

  /** To one process after the other, until one takes it: who has blocked or died does not. */
  async function hand(socket: Socket): Promise<void> {
    while (!socket.destroyed && !isClosing) {
      const next = processes.shift();
      if (next === undefined) {
        await new Promise<void>((resolve) => waiting.push(resolve));
        continue;
      }
      processes.push(next);
      if (await next.offer(socket)) break;
    }
    // What was taken is open in the other process: this closes our end of it only.
    socket.destroy();
  }

  async function close(): Promise<void> {
    isClosing = true;
    for (const wake of waiting) wake();
    await Promise.all(processes.map((process) => process.end()));
    // Those that were on their way up end by themselves; one that failed has been told of.
    await Promise.allSettled(starting);
  }

  try {
    const door = await openDoor((socket) => void hand(socket).catch(() => socket.destroy()), { host, port });
    try {
      await Promise.all(Array.from({ length: options.processes }, start));
    } catch (error) {
      door.close();
      throw error;
    }
    return {
      port: door.port,
      isUp: () => processes.length > 0,
      async close() {
        door.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
