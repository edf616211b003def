// Runs a program whose files cannot grow beyond a limit (RLIMIT_FSIZE). A write beyond the limit
// fails part way, as on a full disk, and nothing else on the machine is affected.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { NotTested } from "../proof.ts";

export interface LimitedRun {
  /** Compiled file of the program. */
  readonly program: URL;
  readonly task: unknown;
  readonly limitBytes: number;
}

/** Unit of `ulimit -f` in POSIX. */
const blockBytes = 512;
const script = 'ulimit -f "$1" || exit 99; shift; exec "$@"';

/** Runs the program to its end; returns its reports. */
export async function runLimited<T>({ program, task, limitBytes }: LimitedRun): Promise<T[]> {
  if (process.platform === "win32") throw new NotTested("Windows has no limit on the size of a file.");
  const blocks = String(Math.floor(limitBytes / blockBytes));
  const args = ["-c", script, "sh", blocks, process.execPath, fileURLToPath(program)];
  const child = spawn("sh", args, { stdio: ["pipe", "ignore", "pipe", "pipe"], detached: true });
  const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  const complaints: Buffer[] = [];
  child.stderr!.on("data", (chunk: Buffer) => complaints.push(chunk));
  // Ignored: the exit code says that the program has not read its task.
  child.stdin!.on("error", () => {});
  child.stdin!.end(JSON.stringify(task));
  const reports: T[] = [];
  for await (const line of createInterface(child.stdio[3] as Readable)) reports.push(JSON.parse(line) as T);
  const [code, signal] = await closed;
  if (code === 0) return reports;
  const stderr = Buffer.concat(complaints).toString().trim();
  if (code === 99) throw new NotTested(`The size of files cannot be limited: ${stderr}`);
  throw new Error(`The writer ended with ${String(code ?? signal)}: ${stderr}`);
}
