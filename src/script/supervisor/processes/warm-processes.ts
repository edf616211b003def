// Starts processes ahead of time, so that loading a script does not wait for process startup.
import type { Isolation } from "../../bindings.ts";
import type { HostProcess } from "../../host/host-process.ts";
import { type HostOptions, startHost, type WarmHost } from "./worker-handle.ts";

export interface Processes {
  /** Returns a started process for this script, and starts the next one. */
  take(script: string, isolation: Isolation): Promise<HostProcess>;
  close(): Promise<void>;
}

export interface ProcessesOptions extends HostOptions {
  /** Creates a sandbox. Sandboxes are not started ahead of time: they start in a fraction of it. */
  readonly createSandbox: (script: string) => Promise<HostProcess>;
  /** Whether a script runs in a process of this user, so that a process is started ahead of time. */
  readonly keepsSpare: boolean;
}

export function createProcesses(options: ProcessesOptions): Processes {
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
  if (options.keepsSpare) keepSpare();
  return {
    async take(script, isolation) {
      if (isolation === "sandbox") return options.createSandbox(script);
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
