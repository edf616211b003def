// Checks of the disk below a data directory: space, inodes, kind of file system, and fsync.
import { closeSync, fdatasyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { systemCode } from "../framework/failures.ts";
import { formatBytes } from "../framework/output.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

/** Numbers of `struct statfs`, for which Node has no names. */
export interface FileSystem {
  readonly type: number;
  readonly freeBytes: number;
  readonly totalBytes: number;
  readonly freeFiles: number;
  readonly totalFiles: number;
}

export function readFileSystem(directory: string): FileSystem {
  const { type, bsize, bavail, blocks, ffree, files } = statfsSync(directory);
  return {
    type,
    freeBytes: bavail * bsize,
    totalBytes: blocks * bsize,
    freeFiles: ffree,
    totalFiles: files,
  };
}

const gibibyte = 2 ** 30;

export function checkSpace({ freeBytes, totalBytes }: FileSystem): Finding {
  const check = "disk space";
  const what = `${formatBytes(freeBytes)} of ${formatBytes(totalBytes)} are free.`;
  const cure = "Delete objects, add space, or set quotas: store quota set";
  if (freeBytes < Math.min(gibibyte, totalBytes * 0.02)) return problem(check, `Only ${what}`, cure);
  if (freeBytes < Math.min(20 * gibibyte, totalBytes * 0.1)) return warning(check, `Only ${what}`, cure);
  return ok(check, what);
}

export function checkInodes({ freeFiles, totalFiles }: FileSystem): Finding {
  const check = "inodes";
  if (totalFiles === 0) return ok(check, "The file system creates inodes as needed.");
  const what = `${freeFiles} of ${totalFiles} inodes are free.`;
  if (freeFiles >= totalFiles * 0.05) return ok(check, what);
  const cure = "Delete files on this file system, or move the store to one with more inodes: store copy";
  return freeFiles < totalFiles * 0.01
    ? problem(check, `Only ${what}`, cure)
    : warning(check, `Only ${what}`, cure);
}

/** Magic numbers of Linux, from linux/magic.h. */
const names: Readonly<Record<number, string>> = {
  61267: "ext4",
  1481003842: "XFS",
  2435016766: "Btrfs",
  801189825: "ZFS",
  4076150800: "F2FS",
  2035054128: "overlay",
  16914836: "tmpfs",
  2240043254: "ramfs",
  26985: "NFS",
  4283649346: "CIFS",
  4266872130: "SMB",
  16914839: "9p",
  1702057286: "FUSE",
};
const inMemory = ["tmpfs", "ramfs"];
const overNetwork = ["NFS", "CIFS", "SMB", "9p", "FUSE"];

export function checkFileSystem({ type }: Pick<FileSystem, "type">): Finding {
  const check = "file system";
  const name = names[type >>> 0];
  if (name === undefined)
    return ok(check, `The kind of the file system is not known (0x${(type >>> 0).toString(16)}).`);
  if (inMemory.includes(name)) {
    return problem(
      check,
      `The data directory is on ${name}: a restart of the machine loses everything.`,
      "Move it to a disk: store copy --to DIR",
    );
  }
  if (overNetwork.includes(name)) {
    return warning(
      check,
      `The data directory is on ${name}, where locks and syncs may not work as Store needs them.`,
      "Use a local disk, or a cluster for several machines: docs/cluster.md",
    );
  }
  if (name === "overlay") {
    return warning(
      check,
      "The data directory is on an overlay file system, which a container loses with itself.",
      "Mount a volume at the data directory.",
    );
  }
  return ok(check, `The data directory is on ${name}.`);
}

export interface SyncTrial {
  /** Median time of a sync, in milliseconds. */
  readonly milliseconds: number;
  /** Time of the file system minus the time of this process, in milliseconds. */
  readonly clockOffset: number;
}

const trialCount = 7;

/** Writes and syncs a small file. Its name is one of a data directory's own, in case of a crash. */
export function trySync(directory: string): SyncTrial {
  const path = join(directory, `reserve.trial-${process.pid}`);
  const file = openSync(path, "wx", 0o600);
  try {
    const times: number[] = [];
    for (let i = 0; i < trialCount; i++) {
      const begin = performance.now();
      writeSync(file, Buffer.alloc(4096, i));
      fdatasyncSync(file);
      times.push(performance.now() - begin);
    }
    times.sort((a, b) => a - b);
    return {
      milliseconds: times[trialCount >> 1]!,
      clockOffset: statSync(path).mtimeMs - Date.now(),
    };
  } finally {
    closeSync(file);
    rmSync(path, { force: true });
  }
}

/** No disk stores bytes durably in less: the sync was not passed on. */
const implausibleMilliseconds = 0.015;
const slowMilliseconds = 100;

export function checkSync({ milliseconds }: Pick<SyncTrial, "milliseconds">): Finding {
  const check = "fsync";
  const took = `A sync takes ${milliseconds.toFixed(milliseconds < 1 ? 3 : 1)} ms`;
  if (milliseconds < implausibleMilliseconds) {
    return warning(
      check,
      `${took}, which is faster than a disk can be.`,
      "Check that the virtual machine or the file system does not ignore syncs: a power cut would lose writes.",
    );
  }
  if (milliseconds > slowMilliseconds) {
    return warning(check, `${took}; every write waits for one.`, "Use a faster disk, such as an SSD.");
  }
  return ok(check, `${took}.`);
}

const maxOffsetMilliseconds = 2000;

export function checkFileClock({ clockOffset }: Pick<SyncTrial, "clockOffset">): Finding {
  const check = "clock";
  if (Math.abs(clockOffset) <= maxOffsetMilliseconds)
    return ok(check, "The clock agrees with the file system.");
  return warning(
    check,
    `The clock differs from the file system's by ${Math.round(clockOffset / 1000)} s.`,
    "Synchronize the clocks, for example with chrony.",
  );
}

/** Runs all checks of a data directory's disk. */
export function checkDisk(directory: string): Finding[] {
  const fileSystem = readFileSystem(directory);
  return [
    checkSpace(fileSystem),
    checkInodes(fileSystem),
    checkFileSystem(fileSystem),
    ...checkTrial(directory),
  ];
}

function checkTrial(directory: string): Finding[] {
  try {
    const trial = trySync(directory);
    return [checkSync(trial), checkFileClock(trial)];
  } catch (error) {
    const code = systemCode(error) ?? String(error);
    return [
      problem(
        "fsync",
        `A file in the data directory cannot be written and synced (${code}).`,
        "Check the permissions of the data directory, and that its file system is not read-only or full.",
      ),
    ];
  }
}
