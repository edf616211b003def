// Limits the processes of a server with many scripts: the scripts that were used least recently
// sleep, without a process, and start again at their next request.

export interface AwakeScripts {
  /** Number of scripts that run. More run only while all of them have requests. */
  readonly maximum: number;
  /** Called for every use of a script. */
  use(script: SleepingScript): void;
}

export interface SleepingScript {
  /** Ends the processes. Returns false if the script is in use. */
  sleep(): boolean;
}

/** Maximum number of processes of all scripts, and the fewest scripts that run all the same. */
const maxProcesses = 64;
const minScripts = 8;

export function maxAwakeScripts(processesPerScript: number): number {
  return Math.max(minScripts, Math.floor(maxProcesses / processesPerScript));
}

export function createAwakeScripts(maximum: number): AwakeScripts {
  // A Set keeps the order of insertion, so its first entry is the least recently used.
  const awake = new Set<SleepingScript>();
  return {
    maximum,
    use(script) {
      awake.delete(script);
      awake.add(script);
      for (const oldest of awake) {
        if (awake.size <= maximum) return;
        if (oldest !== script && oldest.sleep()) awake.delete(oldest);
      }
    },
  };
}

export interface Waking {
  wake(): Promise<void>;
  isWaking(): boolean;
}

/** After a failed start, requests get its error for this time instead of starting the script again. */
const retryMilliseconds = 5000;

/** Starts a script once for all requests that arrive meanwhile. */
export function createWaking(start: () => Promise<void>): Waking {
  let waking: Promise<void> | undefined;
  let failed: { readonly error: unknown; readonly until: number } | undefined;

  async function startOnce(): Promise<void> {
    try {
      await start();
    } catch (error) {
      failed = { error, until: performance.now() + retryMilliseconds };
      throw error;
    } finally {
      waking = undefined;
    }
  }

  return {
    async wake() {
      if (failed !== undefined && performance.now() < failed.until) throw failed.error;
      waking ??= startOnce();
      return waking;
    },
    isWaking: () => waking !== undefined,
  };
}
