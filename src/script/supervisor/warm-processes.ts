// The processes that run scripts: started warm ahead of need, so that a script is loaded in the time of an import
// rather than of a process.
import { type HostOptions, type HostProcess, startHost, type WarmHost } from "./worker-handle.ts";

export interface Processes {
  /** A warm process, for the script of this name; the next one is started at once. */
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
    // If it dies unused, another is started when one is needed.
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
