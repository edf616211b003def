// One sandbox: a process of the runtime behind the wall that runs one script, with the sockets of the
// bridge as its only connections. Implements the process of a script for the supervisor.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createDeferred } from "../../async/deferred.ts";
import { createStandstillWatch, noStandstill, type StandstillWatch } from "../../child/standstill.ts";
import { errorMessage } from "../../model/errors.ts";
import { type HostProcess, LoadError, type ScriptLoad } from "../host/host-process.ts";
import type { ScriptModule } from "../host/messages.ts";
import type { Bridge, OpenSandbox } from "./bridge-handle.ts";
import { createConnections } from "./connections.ts";
import { createGate } from "./gate.ts";
import { openServices, type ServeService } from "./open-services.ts";
import { lowerPriority, watchBusyRuntime } from "./priority.ts";
import { residentBytes } from "./process-memory.ts";
import { translateCompatibility } from "./runtime/compatibility.ts";
import { findRuntime } from "./runtime/find-runtime.ts";
import { createStackMapper } from "./runtime/map-stack.ts";
import { runtimeFiles, socketNames } from "./runtime/runtime-config.ts";
import { createRuntimeOutput } from "./runtime/runtime-output.ts";
import { createSandboxFolder } from "./sandbox-folder.ts";
import { type RunningRuntime, startRuntime, visibleSockets } from "./start-runtime.ts";
import { defaultSandboxLimits } from "./wall/build-wall.ts";
import type { FindWall } from "./walls.ts";

export interface SandboxMemory {
  /** Limit of the JavaScript heap. */
  readonly heapMegabytes: number;
  /** A sandbox that uses more resident memory is ended and replaced. */
  readonly residentMegabytes: number;
}

export interface SandboxOptions {
  readonly bridge: Bridge;
  readonly findWall: FindWall;
  readonly memory: SandboxMemory;
  readonly serveService: ServeService;
  readonly onOutput: (script: string, line: string, stream: "stdout" | "stderr") => void;
  /** Called after a handler other than fetch has run. */
  readonly onRun?: ((script: string, handler: string, outcome: "done" | "failed") => void) | undefined;
  readonly log: (line: string) => void;
}

const megabyte = 1024 * 1024;
const startPollMilliseconds = 5;
/** Age of the last pulse of a runtime that is certainly not idle. */
const blockedMilliseconds = 2000;
const usageCheckMilliseconds = 250;
/** Time for promises passed to waitUntil after the last request, of which the runtime reports nothing. */
const graceMilliseconds = 1000;
/** How long a runtime without requests may take to end. */
const endMilliseconds = 30_000;
const ownFolder = fileURLToPath(new URL(".", import.meta.url));

/** Prepares a sandbox; `load` starts its runtime. */
export async function createSandbox(script: string, options: SandboxOptions): Promise<HostProcess> {
  const { bridge, memory, onOutput, log } = options;
  const wallUser = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
  const folder = await createSandboxFolder(wallUser);
  const mainSocket = join(folder.sockets, socketNames.main);
  const gate = createGate(join(folder.sockets, socketNames.gate));
  const connections = createConnections();
  const abandonListeners = new Set<() => void>();
  const end = createDeferred<string>();
  let runtime: RunningRuntime | undefined;
  let sockets: OpenSandbox | undefined;
  let closeServices: (() => void) | undefined;
  let watch: StandstillWatch | undefined;
  let checkBusy: (() => Promise<void>) | undefined;
  let pid: number | undefined;
  let endReason: string | undefined;
  let isAbandoned = false;
  let isPulsing = false;
  let hasEnded = false;
  let usageCheckedAt = 0;
  let inFlight = 0;
  let isDraining = false;
  let lastBeat = 0;

  async function load(message: ScriptLoad): Promise<void> {
    const { directory, outbound, ...loaded } = message.script;
    const found = findRuntime([directory, ownFolder]);
    if (found.kind === "missing") throw new LoadError(`Script "${script}": ${found.message}`);
    if (found.note !== undefined) log(`Script "${script}": ${found.note}`);
    const { binary, compatibilityDate } = found.runtime;
    const wall = await options.findWall(script, binary);
    const compatibility = translateCompatibility(loaded, compatibilityDate);
    for (const note of compatibility.notes) log(`Script "${script}": ${note}`);
    const modules = message.modules ?? [];
    if (loaded.format === "service-worker" && !hasListeners(modules)) {
      throw new LoadError(
        `The script "${script}" must export its handlers by default: export default { fetch() {} }`,
      );
    }
    const files = runtimeFiles({
      ...{ script: loaded, modules, format: loaded.format, compatibility },
      sockets: visibleSockets(folder, wall),
      heapMegabytes: memory.heapMegabytes,
    });
    for (const [name, content] of Object.entries(files)) await folder.write(name, content);
    for (const { name, contents } of modules) await folder.write(name, contents);
    sockets = await bridge.open({
      script,
      sockets: folder.sockets,
      buckets: loaded.buckets.map(({ bucketName }) => bucketName),
      namespaces: loaded.kvNamespaces.map(({ namespace }) => namespace),
      assets: loaded.assets,
      compatibilityDate: loaded.compatibilityDate,
      compatibilityFlags: loaded.compatibilityFlags,
      outbound,
    });
    closeServices = await openServices(loaded.services, {
      ...{ script, sockets: folder.sockets, serve: options.serveService },
    });
    if (hasEnded) throw new LoadError(`Script "${script}" was stopped while it was loading.`);
    const output = createRuntimeOutput(
      (line, stream) => onOutput(script, line, stream),
      createStackMapper(modules[0]?.name ?? "", message.sourceMap),
    );
    const started = startRuntime({
      ...{ binary, folder, wall },
      // Above the watched limit, so that the log says why the sandbox was ended.
      limits: { ...defaultSandboxLimits, memoryBytes: (memory.residentMegabytes + 64) * megabyte },
      onLine: output.write,
    });
    runtime = started;
    void started.ended.then((how) => finish(endReason ?? how));
    await Promise.race([waitForPulse(started), failIfEnded(started, () => output.errors())]);
    if (hasEnded) throw new LoadError(`Script "${script}" was stopped while it was loading.`);
    output.startServing();
  }

  async function waitForPulse(started: RunningRuntime): Promise<void> {
    pid = await started.pid;
    watch = createStandstillWatch(pid);
    checkBusy = watchBusyRuntime(pid);
    while (!hasEnded) {
      try {
        await gate.pulse();
        watch.beat();
        lastBeat = performance.now();
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, startPollMilliseconds));
      }
    }
  }

  async function failIfEnded(started: RunningRuntime, errors: () => string): Promise<never> {
    const how = await started.ended;
    const why = errors();
    throw new LoadError(
      why === "" ? `The sandbox of script "${script}" ended before it was ready: ${how}.` : why,
    );
  }

  function finish(how: string): void {
    if (hasEnded) return;
    hasEnded = true;
    abandon();
    sockets?.close();
    closeServices?.();
    folder
      .remove()
      .catch((error: unknown) => log(`A sandbox's folder was not removed: ${errorMessage(error)}`))
      .finally(() => end.resolve(how));
  }

  function abandon(): void {
    if (isAbandoned) return;
    isAbandoned = true;
    if (pid !== undefined && !hasEnded) void lowerPriority(pid);
    for (const listener of abandonListeners) listener();
    abandonListeners.clear();
  }

  function kill(): void {
    if (runtime === undefined) finish("stopped");
    else runtime.kill();
  }

  function sendPulse(): void {
    if (isPulsing || hasEnded || watch === undefined) return;
    isPulsing = true;
    gate.pulse().then(
      () => {
        isPulsing = false;
        watch?.beat();
        lastBeat = performance.now();
      },
      () => {
        isPulsing = false;
      },
    );
  }

  async function checkUsage(): Promise<void> {
    const now = performance.now();
    if (pid === undefined || endReason !== undefined || now - usageCheckedAt < usageCheckMilliseconds) return;
    usageCheckedAt = now;
    if (!isAbandoned) await checkBusy?.();
    const used = await residentBytes(pid);
    if (used === undefined || used <= memory.residentMegabytes * megabyte || hasEnded) return;
    endReason = `it used more than ${memory.residentMegabytes} MB of memory`;
    kill();
  }

  async function standstill() {
    // A drain removes the watch, also while the memory is being read.
    const current = watch;
    if (current === undefined) return noStandstill;
    sendPulse();
    await checkUsage();
    return current.measure();
  }

  function beginRequest(): () => void {
    let isOpen = true;
    inFlight++;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      inFlight--;
      if (isDraining && inFlight === 0) stop();
    };
  }

  function drain(): void {
    if (isDraining) return;
    isDraining = true;
    connections.close();
    if (inFlight === 0) stop();
  }

  /** Ends the runtime after its last request. */
  function stop(): void {
    const timer = setTimeout(() => {
      if (pid === undefined || hasEnded) return kill();
      // A blocked runtime cannot end by itself: the pool watches it and ends it.
      if (performance.now() - lastBeat > blockedMilliseconds) return stop();
      // From now on the gate does not answer, so the watch must not count it as blocked.
      watch = undefined;
      process.kill(pid, "SIGTERM");
      const killTimer = setTimeout(kill, endMilliseconds);
      void end.promise.then(() => clearTimeout(killTimer));
    }, graceMilliseconds);
    void end.promise.then(() => clearTimeout(timer));
  }

  async function run<T>(handler: string, work: Promise<T>, isDone: (result: T) => boolean): Promise<T> {
    const endRequest = beginRequest();
    try {
      const result = await Promise.race([work, rejectAtEnd()]);
      options.onRun?.(script, handler, isDone(result) ? "done" : "failed");
      return result;
    } catch (error) {
      options.onRun?.(script, handler, "failed");
      throw error;
    } finally {
      endRequest();
    }
  }

  async function rejectAtEnd(): Promise<never> {
    throw new Error(`The process ended while it ran: ${await end.promise}.`);
  }

  return {
    async load(message) {
      try {
        await load(message);
      } catch (error) {
        kill();
        await end.promise;
        throw error instanceof LoadError ? error : new LoadError(errorMessage(error));
      }
    },
    accept: () => Promise.reject(new Error("A sandbox does not accept connections on the port.")),
    scheduled: (cron, time) => run("scheduled", gate.scheduled(cron, time), () => true),
    notify: (events) => run("notification", gate.notify(events), ({ error }) => error === undefined),
    ...{ standstill, drain, kill, abandon, beginRequest, beginConnection: connections.begin },
    onAbandoned(listener) {
      if (isAbandoned) queueMicrotask(listener);
      else abandonListeners.add(listener);
      return () => abandonListeners.delete(listener);
    },
    ownSocketPath: mainSocket,
    ended: end.promise,
  };
}

/** A script without a default export must at least add listeners. */
function hasListeners(modules: readonly ScriptModule[]): boolean {
  return modules.some(({ contents }) => Buffer.from(contents).includes("addEventListener("));
}
