// Reads the resident memory of another process.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** Undefined if the process has ended. */
export async function residentBytes(pid: number): Promise<number | undefined> {
  try {
    const kilobytes = process.platform === "linux" ? await fromProc(pid) : await fromPs(pid);
    return Number.isFinite(kilobytes) ? kilobytes * 1024 : undefined;
  } catch {
    return undefined;
  }
}

async function fromProc(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(text)?.[1] ?? Number.NaN);
}

async function fromPs(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)("ps", ["-o", "rss=", "-p", String(pid)]);
  return Number(stdout.trim() || Number.NaN);
}
