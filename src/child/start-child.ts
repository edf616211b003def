// Starts a child process and exchanges messages with it. The shape of every message is checked. A
// child that sends an invalid message is killed; other children are not affected.

import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import type { Duplex } from "node:stream";
import { createDeferred } from "../async/deferred.ts";
import { openChannel } from "./channel.ts";
import { forEachLine } from "./output.ts";
import { bestDeathWatch, type DeathWatch, type WatchParent, withDeathSignal } from "./parent-death.ts";
import { createStandstillWatch, type StandstillWatch } from "./standstill.ts";

/** Messages that every child sends while it starts. */
export type StartMessage =
  /** The child runs and waits for its first message. */
  | { readonly kind: "warm" }
  | { readonly kind: "ready" }
  /** The start failed. `code` is the error code of the system call that failed, if any. */
  | { readonly kind: "failed"; readonly message: string; readonly code?: string | undefined };

export interface ChildOptions<Incoming> {
  /** Returns the subject of log messages about the child. */
  readonly title: () => string;
  readonly program: string;
  /** Command-line options of Node. */
  readonly nodeOptions: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  /** Handle of a listening socket that the child inherits. */
  readonly listener?: Duplex | undefined;
  /** Returns undefined when the value is not a valid message. */
  readonly parse: (value: unknown) => Incoming | StartMessage | undefined;
  readonly onMessage: (message: Incoming) => void;
  /** Called with each line of the child's output. Default: the child inherits stdout and stderr. */
  readonly onLine?: ((text: string, stream: "stdout" | "stderr") => void) | undefined;
  readonly log: (line: string) => void;
  /** @internal How the child learns that this process has ended; default: what the system offers. */
  readonly deathWatch?: DeathWatch | undefined;
}

export interface Child<Outgoing extends object> {
  /** Resolves when the child waits for its first message; rejects when the child ended. */
  readonly warm: Promise<void>;
  /** Rejects when the child ended or reported a failure. A child that failed is killed. */
  readonly ready: Promise<void>;
  /** Every message of the child counts as a heartbeat. */
  readonly standstill: StandstillWatch;
  send(message: Outgoing): void;
  kill(): void;
  /** Resolves with the exit code, the signal or the error, as text. */
  readonly ended: Promise<string>;
  /** Resolves after the last message of the child was received. */
  readonly disconnected: Promise<void>;
}

/** Rate limit, far above the rate of a healthy child. Messages beyond it are delayed. */
const messagesPerSecond = 5000;

export function startChild<Incoming extends { readonly kind: string }, Outgoing extends object>(
  options: ChildOptions<Incoming>,
): Child<Outgoing> {
  const { title, program, nodeOptions, environment, listener, parse, onMessage, onLine, log } = options;
  const output = onLine === undefined ? "inherit" : "pipe";
  const { deathWatch = bestDeathWatch() } = options;
  const node = { program: process.execPath, args: [...nodeOptions, program] };
  const command = deathWatch === "signal" ? withDeathSignal(node) : node;
  const child = spawn(command.program, command.args, {
    stdio: ["ignore", output, output, "pipe", ...(listener === undefined ? [] : [listener])],
    env: environment,
  });
  if (onLine !== undefined) {
    forEachLine(child.stdout!, (text) => onLine(text, "stdout"));
    forEachLine(child.stderr!, (text) => onLine(text, "stderr"));
  }
  const ended = waitForExit(child);
  const standstill = createStandstillWatch(child.pid);
  const [warm, ready, disconnected] = [createDeferred(), createDeferred(), createDeferred()];
  const kill = () => void child.kill("SIGKILL");
  void ended.then((how) => {
    for (const { reject } of [warm, ready])
      reject(new Error(`${title()} ended before it was ready: ${how}.`));
  });

  function end(why: string): void {
    log(`${title()} is ended: ${why}.`);
    kill();
  }

  function onStartMessage(message: StartMessage): void {
    if (message.kind === "warm") warm.resolve();
    else if (message.kind === "ready") ready.resolve();
    else {
      ready.reject(Object.assign(new Error(message.message), { code: message.code }));
      kill();
    }
  }

  const channel = openChannel(child.stdio[3] as Duplex, {
    onMessage(value) {
      const message = parse(value);
      if (message === undefined) throw new Error("its content is not valid");
      standstill.beat();
      if (isStartMessage(message)) onStartMessage(message);
      else onMessage(message);
    },
    onFault: (why) => end(`it sent a message that cannot be used (${why})`),
    onClose: disconnected.resolve,
    messagesPerSecond,
  });
  channel.send({ kind: "watch parent", watch: deathWatch, pid: process.pid } satisfies WatchParent);

  return {
    warm: warm.promise,
    ready: ready.promise,
    standstill,
    send(message) {
      // A message to an ending child may be dropped, but a running child that does not read hangs.
      if (!channel.send(message) && child.exitCode === null && child.stdio[3]?.destroyed === false) {
        end("it has stopped reading messages");
      }
    },
    kill,
    ended,
    disconnected: disconnected.promise,
  };
}

function waitForExit(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
    child.on("error", (error) => resolve(error.message));
  });
}

function isStartMessage(message: { readonly kind: string }): message is StartMessage {
  return message.kind === "warm" || message.kind === "ready" || message.kind === "failed";
}
