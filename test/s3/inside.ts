// Reads process ids, memory and file descriptors of the S3 API's processes from /proc.
import { readFileSync } from "node:fs";
import { childrenOf } from "../script/inside.ts";

export function s3Processes(server: number): number[] {
  return childrenOf(server).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("s3/server/worker");
    } catch {
      return false;
    }
  });
}

/** Returns the peak resident memory in bytes. */
export function peakMemory(pid: number): number {
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))!;
  return Number(kibibytes) * 1024;
}

/** Returns the soft limit of open files. Node raises it to the hard limit at startup. */
export function descriptorLimit(pid: number): number {
  const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync(`/proc/${pid}/limits`, "utf8"))!;
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
}
