// Serves the S3 API in worker processes, one per core, which accept connections on one shared port.
// A process that ends is replaced.
import { createRestarts } from "../../child/restarts.ts";
import { bindShared, type PortAddress } from "../../http/server/shared-listener.ts";
import { type S3Process, type S3ProcessOptions, startProcess } from "./worker-handle.ts";

export interface S3ServerOptions extends S3ProcessOptions, PortAddress {}

export interface S3Server {
  readonly port: number;
  /** Whether at least one process accepts connections. */
  isUp(): boolean;
  /** Stops the processes after their requests in flight have finished. */
  close(): Promise<void>;
}

const restartMilliseconds = [0, 100, 500, 2000, 5000];
const restartWindowMilliseconds = 10_000;

export async function startS3(options: S3ServerOptions): Promise<S3Server> {
  const { log } = options;
  const listener = await bindShared(options);
  let processes: S3Process[] = [];
  const restart = createRestarts(restartMilliseconds, restartWindowMilliseconds);
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
      processes = processes.filter((other) => other !== process);
      if (isClosing) return;
      log(`A process of the S3 API ended (${how}): starting it again.`);
      void restart({
        ...{ isNeeded: () => !isClosing, start },
        onError: (message) => log(`${message} Trying again.`),
      });
    });
  }

  async function close(): Promise<void> {
    isClosing = true;
    listener.close();
    await Promise.all(processes.map((process) => process.end()));
    // `launch` ends a process that is still starting; a failed start is already logged.
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
