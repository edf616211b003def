// Starts child processes, each for one task, and kills them when the run ends.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Task } from "./child.ts";

export interface Children {
  start(task: Task): Child;
  /** Kills all running children without waiting for them. */
  killAll(): void;
}

export interface Child {
  /** Resolves with the next message of the child; rejects if the child exits first. */
  said(): Promise<unknown>;
  tell(message: unknown): void;
  kill(): Promise<void>;
  ended(): Promise<void>;
}

const entry = fileURLToPath(new URL(`./child${extname(import.meta.url)}`, import.meta.url));

export function createChildren(): Children {
  const running = new Set<ChildProcess>();
  return {
    start(task) {
      const child = fork(entry, [JSON.stringify(task)]);
      running.add(child);
      child.once("exit", () => running.delete(child));
      return handle(child, task.kind);
    },
    killAll() {
      for (const child of running) child.kill("SIGKILL");
    },
  };
}

function handle(child: ChildProcess, kind: string): Child {
  const exited = once(child, "exit");
  const heard: unknown[] = [];
  let wake: (() => void) | undefined;
  child.on("message", (message) => {
    heard.push(message);
    wake?.();
  });
  return {
    async said() {
      if (heard.length === 0) {
        const spoke = new Promise<void>((resolve) => {
          wake = resolve;
        });
        await Promise.race([spoke, exited]);
      }
      if (heard.length === 0) {
        throw new Error(
          `Cannot measure: the process for "${kind}" ended with ${child.exitCode ?? child.signalCode}`,
        );
      }
      return heard.shift();
    },
    tell: (message) => {
      child.send(message as object);
    },
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
    async ended() {
      const [code] = await exited;
      if (code !== 0) throw new Error(`Cannot measure: the process for "${kind}" ended with ${code}`);
    },
  };
}
