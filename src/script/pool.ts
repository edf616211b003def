// The processes of one script, watched over: one that dies is replaced, one whose event loop stands still is
// replaced and, if it does not recover, ended. New code comes in by new processes; old ones finish first.
import type { Bundle } from "./bundle.ts";
import type { LoadedScript } from "./host-messages.ts";
import { type HostProcess, LoadError, type Processes, type ScriptLoad } from "./processes.ts";

export interface Pool {
  /** Runs this script from now on; rejects, and keeps what ran before, when it cannot be loaded. */
  run(load: PoolLoad): Promise<void>;
  /** A process that answers; waits for one when there is none just now. */
  pick(): Promise<PooledProcess>;
  /** Whether there is a process that answers. */
  isUp(): boolean;
  /** From now on, a process that blocks is not waited for. */
  hurry(): void;
  close(): Promise<void>;
}

export interface PoolLoad extends Pick<ScriptLoad, "location" | "mode" | "presign"> {
  readonly script: Omit<LoadedScript, "bundle">;
  readonly bundle: Bundle;
}

export interface PooledProcess extends HostProcess {
  readonly socketPath: string;
  /** Requests under way, counted by whoever forwards them. */
  underWay: number;
}

export interface PoolOptions {
  readonly name: string;
  readonly size: number;
  readonly processes: Processes;
  /** Where the nth process of this script listens. */
  readonly socketPath: (count: number) => string;
  readonly log: (line: string) => void;
}

/** An event loop that has stood still this long counts as blocked. */
const blockedMilliseconds = 500;
/** How long a process that is to end may stand still before it is ended. */
const recoverMilliseconds = 10_000;
/** How long a script may take to load. */
const loadMilliseconds = 10_000;
const watchMilliseconds = 100;
/** A script that dies at once, again and again, is started again ever more slowly. */
const restartMilliseconds = [0, 0, 100, 500, 2000, 5000];

export function createPool({ name, size, processes, socketPath, log }: PoolOptions): Pool {
  let active: PooledProcess[] = [];
  /** Out of service: they finish what they have, or have blocked. */
  const leaving = new Set<PooledProcess>();
  const waiting: (() => void)[] = [];
  let current: PoolLoad | undefined;
  let started = 0;
  let recentDeaths = 0;
  let isHurried = false;
  let closed = false;
  let lastLook = Date.now();

  async function start(load: PoolLoad): Promise<PooledProcess> {
    const process = await processes.take(name);
    const pooled = { ...process, socketPath: socketPath(++started), underWay: 0 };
    const placed = await load.bundle.place().catch((error: unknown) => {
      process.kill();
      throw error;
    });
    let isLate = false;
    const late = setTimeout(() => {
      isLate = true;
      process.kill();
    }, loadMilliseconds);
    try {
      const { location, mode, presign, script } = load;
      await process.load({
        ...{ kind: "load", location, mode, presign, socketPath: pooled.socketPath },
        script: { ...script, bundle: placed.file },
      });
    } catch (error) {
      process.kill();
      if (isLate) throw new LoadError(`Script "${name}" did not load within ${loadMilliseconds / 1000} s.`);
      throw error;
    } finally {
      clearTimeout(late);
      await placed.remove();
    }
    void process.ended.then((how) => died(pooled, load, how));
    return pooled;
  }

  function died(pooled: PooledProcess, load: PoolLoad, how: string): void {
    if (leaving.delete(pooled) && how !== "exit code 0") log(`Script "${name}" ended (${how}).`);
    if (!active.includes(pooled)) return;
    active = active.filter((other) => other !== pooled);
    log(`Script "${name}" ended (${how}): starting it again.`);
    void replace(load);
  }

  /** Brings the number of processes up again, unless other code has come meanwhile. */
  async function replace(load: PoolLoad): Promise<void> {
    for (;;) {
      const pause = restartMilliseconds[Math.min(recentDeaths++, restartMilliseconds.length - 1)]!;
      setTimeout(() => recentDeaths--, 10_000).unref();
      if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
      if (closed || load !== current) return;
      try {
        return admit(await start(load), load);
      } catch (error) {
        log(
          `Script "${name}" could not be started: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    }
  }

  function admit(pooled: PooledProcess, load: PoolLoad): void {
    active.push(pooled);
    if (closed || load !== current) retire(pooled);
    for (const wake of waiting.splice(0)) wake();
  }

  function retire(pooled: PooledProcess): void {
    active = active.filter((other) => other !== pooled);
    leaving.add(pooled);
    pooled.drain();
  }

  function watch(): void {
    const isLate = Date.now() - lastLook > 3 * watchMilliseconds;
    lastLook = Date.now();
    // We have stood still ourselves, and what they said meanwhile is still to be heard.
    if (isLate) return;
    for (const pooled of active) {
      if (pooled.silence() < blockedMilliseconds) continue;
      log(
        `Script "${name}" has blocked its event loop for ${blockedMilliseconds} ms: another process takes over.`,
      );
      retire(pooled);
      pooled.giveUp();
      if (current !== undefined) void replace(current);
    }
    const blocked = [...leaving].filter((pooled) => pooled.silence() >= blockedMilliseconds);
    for (const [i, pooled] of blocked.entries()) {
      const isOneTooMany = blocked.length - i > size + 1;
      if (pooled.silence() < recoverMilliseconds && !isOneTooMany && !isHurried) continue;
      log(`Script "${name}" did not recover: its blocked process is ended.`);
      leaving.delete(pooled);
      pooled.kill();
    }
  }
  const watching = setInterval(watch, watchMilliseconds);

  return {
    async run(load) {
      const fresh = await Promise.allSettled(Array.from({ length: size }, () => start(load)));
      const failed = fresh.find((result) => result.status === "rejected");
      const ready = fresh.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
      if (failed !== undefined) {
        for (const pooled of ready) retire(pooled);
        throw failed.reason;
      }
      const old = active;
      current = load;
      active = [];
      for (const pooled of ready) admit(pooled, load);
      for (const pooled of old) retire(pooled);
    },
    async pick() {
      while (active.length === 0) {
        if (closed) throw new Error(`Script "${name}" has ended.`);
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
      const least = active.reduce((one, other) => (other.underWay < one.underWay ? other : one));
      // Behind the others, so that among equals each has its turn.
      active = [...active.filter((other) => other !== least), least];
      return least;
    },
    isUp: () => active.length > 0,
    hurry() {
      isHurried = true;
    },
    async close() {
      isHurried = true;
      closed = true;
      for (const wake of waiting.splice(0)) wake();
      for (const pooled of active) retire(pooled);
      await Promise.all([...leaving].map(({ ended }) => ended));
      clearInterval(watching);
    },
  };
}
