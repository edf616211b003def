// A small disk of its own, which something else fills and empties: a tmpfs, or any folder where nobody may mount one.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";

export interface SmallDisk {
  readonly directory: string;
  /** False where it is a folder on a large one, which cannot be filled. */
  readonly isSmall: boolean;
  /** Leaves about so many bytes. */
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
    console.error(`NOT TESTED: a full disk. This machine does not let us mount one: ${reason}`);
  }
  const ballast = join(directory, "ballast");
  return {
    directory,
    isSmall,
    fill(left) {
      const file = openSync(ballast, "w");
      try {
        // In small pieces: others are writing too, and the last one is the one that does not fit.
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
      // Detached at once, gone with its last descriptor.
      if (isSmall) assert.equal(spawnSync("umount", ["-l", directory]).status, 0, "the disk is unmounted");
    },
  };
}
