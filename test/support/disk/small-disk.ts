// A small disk that tests can fill and empty: a tmpfs, or a plain folder where mounting is not
// permitted.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";

export interface SmallDisk {
  readonly directory: string;
  /** Whether the disk is small; a plain folder on a large disk cannot be filled. */
  readonly isSmall: boolean;
  /** Fills the disk until about this many bytes are left. */
  fill(left: number): void;
  empty(): void;
  remove(): void;
}

const usualBytes = 96 * 1024 * 1024;

export function mountSmallDisk(folder: string, size = usualBytes): SmallDisk {
  const directory = join(folder, "disk");
  mkdirSync(directory);
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", directory], {
    encoding: "utf8",
  });
  const isSmall = mounted.status === 0;
  if (!isSmall) {
    const reason = mounted.error?.message ?? mounted.stderr.trim();
    console.error(`NOT TESTED: a full disk. Mounting a tmpfs is not permitted on this machine: ${reason}`);
  }
  const ballast = join(directory, "ballast");
  return {
    directory,
    isSmall,
    fill(left) {
      const file = openSync(ballast, "w");
      try {
        // Use small writes: other processes write at the same time, and only the last write may
        // fail.
        for (;;) {
          const { bavail, bsize } = statfsSync(directory);
          const bytes = Math.min(bavail * bsize - left, 1024 * 1024);
          if (bytes <= 0) return;
          writeSync(file, Buffer.alloc(bytes));
        }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      } finally {
        closeSync(file);
      }
    },
    empty: () => rmSync(ballast, { force: true }),
    remove() {
      // A lazy unmount: detached immediately, removed when the last descriptor is closed.
      if (isSmall) assert.equal(spawnSync("umount", ["-l", directory]).status, 0, "the disk is unmounted");
    },
  };
}
