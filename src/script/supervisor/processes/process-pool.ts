// The processes of one script. Replaces a process that exits or blocks its event loop. New code
// runs in new processes; old processes finish their requests.
import { createRestarts } from "../../../child/restarts.ts";
import { maxSilentMilliseconds, type Standstill } from "../../../child/standstill.ts";
import { type HostProcess, LoadError, type ScriptLoad } from "../../host/host-process.ts";
import type { LoadedScript } from "../../host/messages.ts";
import type { Bundle } from "../bundle.ts";
import { type AwakeScripts, createWaking, type SleepingScript } from "./awake-scripts.ts";
import { startLoadDeadline } from "./load-deadline.ts";
import type { Processes } from "./warm-processes.ts";

export interface Pool extends SleepingScript {
  /** Switches to this script. If it cannot be loaded, rejects and keeps the previous script. */
  run(load: PoolLoad): Promise<void>;
  /** Returns an active process; wakes the script if it sleeps, and waits until a timeout. */
  pick(): Promise<PooledProcess>;
  /** Starts a sleeping script. Concurrent callers wait for the same start. */
  wake(): Promise<void>;
  /** Whether the script has no process because it was not used for a while. */
  isAsleep(): boolean;
  /** Whether there is an active process, or one is started at the next request. */
  isUp(): boolean;
  /** From now on, blocked processes are killed immediately. */
  beginShutdown(): void;
  close(): Promise<void>;
}

export interface PoolLoad
  extends Pick<ScriptLoad, "location" | "mode" | "presign" | "openUploads" | "encryption"> {
  readonly script: Omit<LoadedScript, "bundle" | "format">;
  /** Undefined when assets are served without a script. */
  readonly bundle: Bundle | undefined;
}

export interface PooledProcess extends HostProcess {
  readonly socketPath: string;
  /** Whether it sends status 102 when it starts on a request. */
  readonly announcesStart: boolean;
  /** Requests in flight, counted by the router that forwards them. */
  inFlight: number;
}

export interface PoolOptions {
  readonly name: string;
  readonly size: number;
  readonly processes: Processes;
  /** Socket path of the nth process for the router; undefined when processes accept on the port. */
  readonly socketPath: ((count: number) => string) | undefined;
  readonly log: (line: string) => void;
  /** Runs the script again, by `run`, after it slept. */
  readonly onWake: () => Promise<void>;
  /** Undefined: the script never sleeps. */
  readonly awake?: AwakeScripts | undefined;
}

const watchMilliseconds = 100;
/** Processor time without a heartbeat after which a process counts as blocked. */
const blockedCpuMilliseconds = 500;
/** Time in a blocking system call after which a process counts as blocked. */
const blockedAsleepMilliseconds = 10_000;
/** How long a retired, blocked process may take to recover before it is killed. */
const recoverCpuMilliseconds = 10_000;
const recoverWallMilliseconds = 60_000;
/** Delays between restarts: a script that keeps crashing starts at most twelve times a minute. */
const restartMilliseconds = [0, 0, 100, 500, 2000, 5000, 5000, 10_000];
const restartWindowMilliseconds = 60_000;
const pickMilliseconds = 30_000;
/** A script that was used within this time does not sleep. */
const minAwakeMilliseconds = 5000;

export function createPool(options: PoolOptions): Pool {
  const { name, size, processes, socketPath, log, awake } = options;
  let active: PooledProcess[] = [];
  /** Processes that get no new requests: they are finishing their requests, or are blocked. */
  const retired = new Set<PooledProcess>();
  const waiters = new Set<() => void>();
  let current: PoolLoad | undefined;
  let started = 0;
  let isShuttingDown = false;
  let closed = false;
  let asleep = false;
  const waking = createWaking(options.onWake);
  let lastUse = Number.NEGATIVE_INFINITY;
  const restart = createRestarts(restartMilliseconds, restartWindowMilliseconds);

  async function start(load: PoolLoad): Promise<PooledProcess> {
    const { isolation } = load.script;
    const process = await processes.take(name, isolation);
    const pooled = {
      ...process,
      socketPath: process.ownSocketPath ?? socketPath?.(++started) ?? "",
      announcesStart: process.ownSocketPath === undefined,
      inFlight: 0,
    };
    const file = isolation === "sandbox" ? undefined : load.bundle?.writeToFile();
    const bundleFile = await file?.catch((error: unknown) => {
      process.kill();
      throw error;
    });
    const deadline = startLoadDeadline(process);
    try {
      const { location, mode, presign, openUploads, encryption, script } = load;
      await process.load({
        ...{ kind: "load", location, mode, presign, openUploads, encryption },
        socketPath: socketPath === undefined ? undefined : pooled.socketPath,
        script: { ...script, bundle: bundleFile?.file, format: load.bundle?.format ?? "module" },
        modules: isolation === "sandbox" ? load.bundle?.modules : undefined,
        sourceMap: isolation === "sandbox" ? load.bundle?.sourceMap : undefined,
      });
    } catch (error) {
      process.kill();
      if (deadline.isLate) throw new LoadError(`Script "${name}" did not finish loading in time.`);
      throw error;
    } finally {
      deadline.clear();
      await bundleFile?.remove();
    }
    void process.ended.then((exitDescription) => onExit(pooled, load, exitDescription));
    return pooled;
  }

  function onExit(pooled: PooledProcess, load: PoolLoad, exitDescription: string): void {
    if (retired.delete(pooled) && exitDescription !== "exit code 0")
      log(`Script "${name}" ended (${exitDescription}).`);
    if (!active.includes(pooled)) return;
    active = active.filter((other) => other !== pooled);
    log(`Script "${name}" ended (${exitDescription}): starting it again.`);
    replace(load);
  }

  /** Starts a replacement process, unless newer code has been loaded meanwhile. */
  function replace(load: PoolLoad): void {
    void restart({
      isNeeded: () => !closed && !asleep && load === current,
      start: async () => admit(await startServing(load), load),
      onError: (message) => log(`Script "${name}" could not be started: ${message}`),
    });
  }

  function admit(pooled: PooledProcess, load: PoolLoad): void {
    active.push(pooled);
    if (closed || asleep || load !== current) retire(pooled);
    for (const wake of [...waiters]) wake();
  }

  /** Without a router, the process accepts on the port as soon as the script is loaded. */
  async function startServing(load: PoolLoad): Promise<PooledProcess> {
    const pooled = await start(load);
    if (socketPath === undefined) await pooled.accept();
    return pooled;
  }

  /** Resolves when a process becomes active, when the pool closes, or at the deadline. */
  function nextAdmission(deadline: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        waiters.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.max(0, deadline - performance.now()));
      waiters.add(wake);
    });
  }

  function retire(pooled: PooledProcess): void {
    active = active.filter((other) => other !== pooled);
    retired.add(pooled);
    pooled.drain();
  }

  async function watch(): Promise<void> {
    for (const pooled of active) {
      if (!isBlocked(await pooled.standstill()) || !active.includes(pooled)) continue;
      log(`Script "${name}" has blocked its event loop: another process takes over.`);
      retire(pooled);
      pooled.abandon();
      if (current !== undefined) replace(current);
    }
    const blocked: [PooledProcess, Standstill][] = [];
    for (const pooled of retired) {
      const standstill = await pooled.standstill();
      if (isBlocked(standstill)) blocked.push([pooled, standstill]);
    }
    for (const [i, [pooled, standstill]] of blocked.entries()) {
      const isOverLimit = blocked.length - i > size + 1;
      if (!isUnrecoverable(standstill) && !isOverLimit && !isShuttingDown) continue;
      log(`Script "${name}" did not recover: its blocked process is ended.`);
      retired.delete(pooled);
      pooled.kill();
    }
  }

  let isWatching = false;
  const watchTimer = setInterval(() => {
    if (isWatching || active.length + retired.size === 0) return;
    isWatching = true;
    // Deferred, so that heartbeats that arrived while the supervisor was busy are handled first.
    setImmediate(() => {
      void watch().finally(() => {
        isWatching = false;
      });
    });
  }, watchMilliseconds);

  function noteUse(): void {
    if (awake === undefined) return;
    lastUse = performance.now();
    awake.use(pool);
  }

  const pool: Pool = {
    async run(load) {
      const results = await Promise.allSettled(Array.from({ length: size }, () => start(load)));
      const failed = results.find((result) => result.status === "rejected");
      const ready = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
      if (failed !== undefined) {
        for (const pooled of ready) retire(pooled);
        throw failed.reason;
      }
      // Accept only after all processes have loaded the code: if one fails, none may serve it.
      if (socketPath === undefined) await Promise.all(ready.map((pooled) => pooled.accept()));
      const previous = active;
      current = load;
      asleep = false;
      active = [];
      noteUse();
      for (const pooled of ready) admit(pooled, load);
      for (const pooled of previous) retire(pooled);
    },
    async pick() {
      const deadline = performance.now() + pickMilliseconds;
      while (active.length === 0) {
        if (closed) throw new Error(`Script "${name}" has ended.`);
        if (asleep) {
          await waking.wake();
          continue;
        }
        if (performance.now() >= deadline) throw new Error(`Script "${name}" has no running process.`);
        await nextAdmission(deadline);
      }
      const picked = active.reduce((best, other) => (other.inFlight < best.inFlight ? other : best));
      // Moved to the end of the list, for round robin among processes with equal load.
      active = [...active.filter((other) => other !== picked), picked];
      noteUse();
      return picked;
    },
    wake: async () => (asleep ? waking.wake() : undefined),
    sleep() {
      const isUsed =
        performance.now() - lastUse < minAwakeMilliseconds || active.some(({ inFlight }) => inFlight > 0);
      if (isUsed || waking.isWaking()) return false;
      asleep = true;
      if (active.length > 0)
        log(`Script "${name}" sleeps until its next request: other scripts are used more.`);
      for (const pooled of active) retire(pooled);
      return true;
    },
    isAsleep: () => asleep,
    isUp: () => active.length > 0 || asleep,
    beginShutdown() {
      isShuttingDown = true;
    },
    async close() {
      isShuttingDown = true;
      closed = true;
      for (const wake of [...waiters]) wake();
      for (const pooled of active) retire(pooled);
      await Promise.all([...retired].map(({ ended }) => ended));
      clearInterval(watchTimer);
    },
  };
  return pool;
}

function isBlocked({ cpuMilliseconds, asleepMilliseconds, silentMilliseconds }: Standstill): boolean {
  return (
    cpuMilliseconds >= blockedCpuMilliseconds ||
    asleepMilliseconds >= blockedAsleepMilliseconds ||
    silentMilliseconds >= maxSilentMilliseconds
  );
}

function isUnrecoverable({ cpuMilliseconds, wallMilliseconds }: Standstill): boolean {
  return cpuMilliseconds >= recoverCpuMilliseconds || wallMilliseconds >= recoverWallMilliseconds;
}
