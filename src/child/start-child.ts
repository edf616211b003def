// Starts a child process of this server and speaks with it. What it sends is checked by shape before use; a child that
// sends something else is ended, and nothing but that child suffers.
import { type ChildProcess, spawn } from "node:child_process";
import type { Duplex } from "node:stream";
import { openChannel } from "./channel.ts";
import { forEachLine } from "./output.ts";

export interface ChildOptions<Incoming> {
  /** For messages about it, at the beginning of a sentence. */
  readonly title: () => string;
  readonly program: string;
  /** Options of Node. */
  readonly nodeOptions: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  /** The handle of a listening socket that it inherits. */
  readonly listener?: Duplex | undefined;
  /** Returns the message if the value is one; undefined otherwise. */
  readonly parse: (value: unknown) => Incoming | undefined;
  readonly onMessage: (message: Incoming) => void;
  /** Takes the lines of its output; without it, the output goes where that of this process goes. */
  readonly onLine?: ((text: string, stream: "stdout" | "stderr") => void) | undefined;
  readonly log: (line: string) => void;
}

export interface Child<Outgoing extends object> {
  /** Undefined when it could not be started. */
  readonly pid: number | undefined;
  send(message: Outgoing): void;
  kill(): void;
  /** Resolves with how it ended, in words. */
  readonly ended: Promise<string>;
  /** Resolves after the last message that it sent. */
  readonly disconnected: Promise<void>;
}

/** Far more than an honest child sends; one that floods waits. */
const messagesPerSecond = 5000;

export function startChild<Incoming, Outgoing extends object>(
  options: ChildOptions<Incoming>,
): Child<Outgoing> {
  const { title, program, nodeOptions, environment, listener, parse, onMessage, onLine, log } = options;
  const output = onLine === undefined ? "inherit" : "pipe";
  const child = spawn(process.execPath, [...nodeOptions, program], {
    stdio: ["ignore", output, output, "pipe", ...(listener === undefined ? [] : [listener])],
    env: environment,
  });
  if (onLine !== undefined) {
    forEachLine(child.stdout!, (text) => onLine(text, "stdout"));
    forEachLine(child.stderr!, (text) => onLine(text, "stderr"));
  }
  const ended = waitForExit(child);
  let disconnect = () => {};
  const disconnected = new Promise<void>((resolve) => {
    disconnect = resolve;
  });

  function end(why: string): void {
    log(`${title()} is ended: ${why}.`);
    child.kill("SIGKILL");
  }

  const channel = openChannel(child.stdio[3] as Duplex, {
    onMessage(value) {
      const message = parse(value);
      if (message === undefined) throw new Error("its content is not valid");
      onMessage(message);
    },
    onFault: (why) => end(`it sent a message that cannot be used (${why})`),
    onClose: () => disconnect(),
    messagesPerSecond,
  });

  return {
    pid: child.pid,
    send(message) {
      // A child that is ending needs no more messages; one that reads none while it runs has stopped working.
      if (!channel.send(message) && child.exitCode === null && child.stdio[3]?.destroyed === false) {
        end("it has stopped reading messages");
      }
    },
    kill: () => void child.kill("SIGKILL"),
    ended,
    disconnected,
  };
}

function waitForExit(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
    child.on("error", (error) => resolve(error.message));
  });
}
