// Starts the writer process on the failing disk, sends it commands and reads its reports.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Report } from "../../../src/prove/kill/object-writer.ts";
import type { Command, Tale, Trouble } from "./writer.ts";

export interface DiskProcess {
  /** Passes each report of the command to `hear` in order; resolves to the command's error. */
  ask(command: Command, hear?: (told: Report | Tale) => void): Promise<Trouble | undefined>;
  kill(): Promise<void>;
}

export function startDiskProcess(env: Readonly<Record<string, string>>): DiskProcess {
  const path = fileURLToPath(new URL("./writer.js", import.meta.url));
  const child = spawn(process.execPath, [path], {
    stdio: ["pipe", "inherit", "inherit", "pipe"],
    env: { ...process.env, ...env },
  });
  const exited = once(child, "exit");
  // Ignored: if the process has ended, the missing answer reports that.
  child.stdin!.on("error", () => {});
  const lines = createInterface(child.stdio[3] as Readable)[Symbol.asyncIterator]();
  return {
    async ask(command, hear) {
      child.stdin!.write(`${JSON.stringify(command)}\n`);
      for (;;) {
        const { value, done } = await withPatience(lines.next(), command.do);
        if (done === true) throw new Error(`The process ended during "${command.do}" with ${await exited}`);
        const told = JSON.parse(value) as Report | Tale;
        if ("told" in told && told.told === "over") return told.trouble;
        hear?.(told);
      }
    },
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** A process silent for this many milliseconds counts as hung. */
const patience = 60_000;

async function withPatience<T>(next: Promise<T>, what: string): Promise<T> {
  let late: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    const fail = () => reject(new Error(`The process sent nothing for ${patience} ms during "${what}"`));
    late = setTimeout(fail, patience);
  });
  try {
    return await Promise.race([next, silence]);
  } finally {
    clearTimeout(late);
  }
}
