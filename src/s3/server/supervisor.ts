// Serves the S3 API in processes of its own, one a core, which accept connections on one shared port. A process that
// ends is replaced.
import { bindShared, type WhenTaken } from "../../http/server/shared-listener.ts";
import { type S3Process, type S3ProcessOptions, startProcess } from "./worker-handle.ts";

export interface S3ServerOptions extends S3ProcessOptions {
  readonly whenTaken?: WhenTaken | undefined;
  readonly host: string;
  readonly port: number;
}

export interface S3Server {
  readonly port: number;
  /** Whether at least one process serves. */
  isUp(): boolean;
  /** Lets requests in flight finish. */
  close(): Promise<void>;
}

/** Delays before a restart, longer the more often processes have died lately. */
const restartMilliseconds = [0, 100, 500, 2000, 5000];

export async function startS3(options: S3ServerOptions): Promise<S3Server> {
  const { log } = options;
  const listener = await bindShared(options);
  let processes: S3Process[] = [];
  let recentExits = 0;
  let isClosing = false;
  const starting = new Set<Promise<void>>();

  function start(): Promise<void> {
    const started = launch().finally(() => starting.delete(started));
    starting.add(started);
    return started;
  }

  async function launch(): Promise<void> {
    const process = await startProcess(options, listener);
    if (isClosing) return process.end();
    processes.push(process);
    void process.ended.then((how) => {
      processes = processes.filter((one) => one !== process);
      if (isClosing) return;
      log(`A process of the S3 API ended (${how}): starting it again.`);
      replace();
    });
  }

  function replace(): void {
    const pause = restartMilliseconds[Math.min(recentExits++, restartMilliseconds.length - 1)]!;
    setTimeout(() => recentExits--, 10_000).unref();
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
    listener.close();
    await Promise.all(processes.map((process) => process.end()));
    // Processes that are starting end by themselves; a failure was logged.
    await Promise.allSettled(starting);
  }

  try {
    await Promise.all(Array.from({ length: options.processes }, start));
  } catch (error) {
    await close();
    throw error;
  }
  return { port: listener.port, isUp: () => processes.length > 0, close };
}
