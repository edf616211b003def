// Starts the bridge, and opens and closes the sockets of sandboxes in it. A bridge that ends is
// replaced, and the sockets of running sandboxes are opened again under the same paths.
import { fileURLToPath } from "node:url";
import { serverEnvironment } from "../../child/environment.ts";
import { createRestarts } from "../../child/restarts.ts";
import { guardStandstill } from "../../child/standstill-guard.ts";
import { type Child, type StartMessage, startChild } from "../../child/start-child.ts";
import type { Watch, WatchedProcess } from "../../metrics/collector.ts";
import {
  type FromBridge,
  type OpenBridge,
  parseFromBridge,
  type SandboxRights,
  type ToBridge,
} from "./bridge-messages.ts";

export interface BridgeOptions extends Omit<OpenBridge, "kind" | "observing"> {
  readonly environment: NodeJS.ProcessEnv;
  readonly watch: Watch;
  readonly log: (line: string) => void;
  /** Receives lines about a script, such as refused outbound requests. */
  readonly onScriptLine: (script: string, line: string) => void;
}

export interface Bridge {
  /** Opens the sockets of a sandbox. Rejects if they cannot be opened. */
  open(rights: SandboxRights): Promise<OpenSandbox>;
  close(): Promise<void>;
}

export interface OpenSandbox {
  /** Closes the sockets after the requests in flight. */
  close(): void;
}

type BridgeMessage = Exclude<FromBridge, StartMessage>;
type BridgeChild = Child<ToBridge>;

const program = fileURLToPath(new URL("./bridge.js", import.meta.url));
const endMilliseconds = 60_000;
const restartMilliseconds = [0, 100, 500, 2000, 5000];
const restartWindowMilliseconds = 60_000;
/** Far longer than any operation takes: a bridge that is killed fails the requests of all sandboxes. */
const standstillLimits = { cpuMilliseconds: 10_000, asleepMilliseconds: 60_000 };

/** The process starts with the first sandbox. */
export function createBridge(options: BridgeOptions): Bridge {
  const { location, mode, openUploads, descriptors, encryption, watch, log } = options;
  const sandboxes = new Map<number, SandboxRights>();
  const pending = new Map<number, { resolve(): void; reject(error: Error): void }>();
  const restart = createRestarts(restartMilliseconds, restartWindowMilliseconds);
  let current: Promise<BridgeChild> | undefined;
  let nextId = 1;
  let isClosed = false;

  function onMessage(message: BridgeMessage, watched: WatchedProcess | undefined): void {
    if (message.kind === "opened") {
      const waiter = pending.get(message.id);
      pending.delete(message.id);
      if (message.error === undefined) waiter?.resolve();
      else if (waiter === undefined) log(`Sockets of a sandbox could not be opened: ${message.error}`);
      else waiter.reject(new Error(message.error));
    } else if (message.kind === "log") options.onScriptLine(message.script, message.line);
    else if (message.kind !== "beat") watched?.receive(message);
  }

  async function start(): Promise<BridgeChild> {
    let watched: WatchedProcess | undefined;
    const child: BridgeChild = startChild<BridgeMessage, ToBridge>({
      title: () => "The bridge of sandboxes",
      program,
      nodeOptions: [...process.execArgv],
      environment: serverEnvironment(options.environment),
      parse: parseFromBridge,
      onMessage: (message) => onMessage(message, watched),
      log,
    });
    await child.warm;
    const { observing } = watch;
    child.send({ kind: "open", location, mode, openUploads, descriptors, encryption, observing });
    await child.ready;
    watched = watch.join((message) => child.send(message));
    void child.disconnected.then(watched.remove);
    void child.ended.then(onEnd);
    guardStandstill(child, standstillLimits, () =>
      log("The bridge of sandboxes has blocked its event loop: it is ended."),
    );
    for (const [id, rights] of sandboxes) child.send({ kind: "open sandbox", id, ...rights });
    return child;
  }

  /** Starts the bridge, unless it runs. A failed start is tried again by the next caller. */
  function running(): Promise<BridgeChild> {
    current ??= start().catch((error: unknown) => {
      current = undefined;
      throw error;
    });
    return current;
  }

  function onEnd(how: string): void {
    current = undefined;
    for (const { reject } of pending.values()) reject(new Error(`The bridge of sandboxes ended: ${how}.`));
    pending.clear();
    if (isClosed) return;
    log(`The bridge of sandboxes ended (${how}): starting it again.`);
    void restart({
      isNeeded: () => !isClosed && current === undefined && sandboxes.size > 0,
      start: async () => void (await running()),
      onError: (message) => log(`The bridge of sandboxes could not be started: ${message}`),
    });
  }

  async function close(): Promise<void> {
    isClosed = true;
    const child = await current?.catch(() => undefined);
    if (child === undefined) return;
    const killTimer = setTimeout(() => child.kill(), endMilliseconds);
    child.send({ kind: "close" });
    await Promise.all([child.ended, child.disconnected]);
    clearTimeout(killTimer);
  }

  return {
    close,
    async open(rights) {
      const child = await running();
      const id = nextId++;
      await new Promise<void>((resolve, reject) => {
        pending.set(id, { resolve, reject });
        child.send({ kind: "open sandbox", id, ...rights });
      });
      sandboxes.set(id, rights);
      return {
        close() {
          if (!sandboxes.delete(id)) return;
          void current?.then((running) => running.send({ kind: "close sandbox", id })).catch(() => {});
        },
      };
    },
  };
}
