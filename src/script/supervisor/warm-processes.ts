// Starts processes ahead of time, so that loading a script does not wait for process startup.
import { type HostOptions, type HostProcess, startHost, type WarmHost } from "./worker-handle.ts";

export interface Processes {
  /** Returns a started process for this script, and starts the next one. */
  take(script: string): Promise<HostProcess>;
  close(): Promise<void>;
}

export function createProcesses(options: HostOptions): Processes {
  let spare: WarmHost | undefined;
  let isClosed = false;

  function keepSpare(): void {
    if (isClosed || spare !== undefined) return;
    const started = startHost(options);
    spare = started;
    // If the process exits unused, `take` starts another one.
    void started.process.ended.then(() => {
      if (spare === started) spare = undefined;
    });
  }

  // The first process starts while the first script is being bundled.
  keepSpare();
  return {
    async take(script) {
      const taken = spare ?? startHost(options);
      spare = undefined;
      await taken.warm;
      taken.assign(script);
      keepSpare();
      return taken.process;
    },
    async close() {
      isClosed = true;
      spare?.process.kill();
      await spare?.process.ended;
    },
  };
}
