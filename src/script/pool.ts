// The processes of one script, watched over: one that dies is replaced, one whose event loop stands still is
// replaced and, if it does not recover, ended. New code comes in by new processes; old ones finish first.
import type { Load } from "./host-messages.ts";
import type { HostProcess, Processes } from "./processes.ts";

export interface Pool {
  /** Runs this script from now on; rejects, and keeps what ran before, when it cannot be loaded. */
  run(load: PoolLoad): Promise<void>;
  /** A process that answers; waits for one when there is none just now. */
  pick(): Promise<PooledProcess>;
  readonly handlers: readonly string[];
  readonly port: number | undefined;
  close(): Promise<void>;
}

/** A load without the address, which may be each process's own. */
export interface PoolLoad extends Omit<Load, "address" | "kind"> {
  readonly address: (count: number) => Load["address"];
}

export interface PooledProcess {
  readonly process: HostProcess;
  readonly address: Load["address"];
  /** Requests under way, counted by whoever forwards them. */
  underWay: number;
}

export interface PoolOptions {
  readonly name: string;
  readonly size: number;
  readonly processes: Processes;
  readonly log: (line: string) => void;
}

/** An event loop that has stood still this long counts as blocked. */
const blockedMilliseconds = 500;
/** How long a blocked process may take to recover before it is ended. */
const recoverMilliseconds = 10_000;
const watchMilliseconds = 100;
/** A script that dies at once, again and again, is started again ever more slowly. */
const restartMilliseconds = [0, 0, 100, 500, 2000, 5000];

export function createPool({ name, size, processes, log }: PoolOptions): Pool {
  let active: PooledProcess[] = [];
  const blocked = new Set<PooledProcess>();
  const waiting: (() => void)[] = [];
  let current: PoolLoad | undefined;
  let started = 0;
  let recentDeaths = 0;
  let closed = false;

  async function start(load: PoolLoad): Promise<PooledProcess> {
    const process = await processes.take();
    const address = load.address(++started);
    await process.load({ ...load, kind: "load", address });
    const pooled = { process, address, underWay: 0 };
    void process.ended.then((how) => died(pooled, load, how));
    return pooled;
  }

  function died(pooled: PooledProcess, load: PoolLoad, how: string): void {
    blocked.delete(pooled);
    if (!active.includes(pooled)) return;
    active = active.filter((other) => other !== pooled);
    log(`Script "${name}" ended (${how}): starting it again.`);
    void replace(load);
  }

  /** Brings the number of processes up again, unless other code has come meanwhile. */
  async function replace(load: PoolLoad): Promise<void> {
    const pause = restartMilliseconds[Math.min(recentDeaths++, restartMilliseconds.length - 1)]!;
    setTimeout(() => recentDeaths--, 10_000).unref();
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
    if (closed || load !== current) return;
    try {
      admit(await start(load), load);
    } catch (error) {
      log(`Script "${name}" could not be started: ${error instanceof Error ? error.message : String(error)}`);
      await replace(load);
    }
  }

  function admit(pooled: PooledProcess, load: PoolLoad): void {
    if (closed || load !== current) {
      void pooled.process.drain();
      return;
    }
    active.push(pooled);
    for (const wake of waiting.splice(0)) wake();
  }

  function watch(): void {
    for (const pooled of active) {
      if (pooled.process.silence() < blockedMilliseconds) continue;
      log(
        `Script "${name}" has blocked its event loop for ${blockedMilliseconds} ms: another process takes over.`,
      );
      active = active.filter((other) => other !== pooled);
      blocked.add(pooled);
      if (current !== undefined) void replace(current);
    }
    for (const pooled of blocked) {
      const isHopeless = pooled.process.silence() > recoverMilliseconds || blocked.size > size + 1;
      if (isHopeless) {
        log(`Script "${name}" did not recover: its blocked process is ended.`);
        blocked.delete(pooled);
        pooled.process.kill();
      } else if (pooled.process.silence() < blockedMilliseconds) {
        // It was long at work, not stuck: it finishes what it has and goes.
        blocked.delete(pooled);
        void pooled.process.drain();
      }
    }
  }
  const watching = setInterval(watch, watchMilliseconds);

  return {
    async run(load) {
      const fresh = await Promise.allSettled(Array.from({ length: size }, () => start(load)));
      const failed = fresh.find((result) => result.status === "rejected");
      const ready = fresh.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
      if (failed !== undefined) {
        for (const { process } of ready) void process.drain();
        throw failed.reason;
      }
      const old = active;
      current = load;
      active = [];
      for (const pooled of ready) admit(pooled, load);
      for (const { process } of old) void process.drain();
    },
    async pick() {
      while (active.length === 0) {
        if (closed) throw new Error(`Script "${name}" has ended.`);
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
      return active.reduce((least, pooled) => (pooled.underWay < least.underWay ? pooled : least));
    },
    get handlers() {
      return active[0]?.process.handlers ?? [];
    },
    get port() {
      return active[0]?.process.port;
    },
    async close() {
      closed = true;
      clearInterval(watching);
      for (const wake of waiting.splice(0)) wake();
      const leaving = active;
      active = [];
      for (const { process } of blocked) process.kill();
      await Promise.all(leaving.map(({ process }) => process.drain()));
    },
  };
}
