// The disk of a modelled store: a small tmpfs that can be filled to the last byte, or a plain
// directory if mounting is not permitted.
import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, realpathSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Disk {
  readonly root: string;
  /** Directory of the store. */
  readonly directory: string;
  /** A directory outside the small disk: never full. */
  readonly beside: string;
  readonly canFill: boolean;
  fill(): void;
  free(): void;
  remove(): void;
}

/** Enough for the reserve, a log of a thousand pages, and the data of a few hundred commands. */
const diskBytes = 24 * 1024 * 1024;

export function createDisk(): Disk {
  const beside = realpathSync(mkdtempSync(join(tmpdir(), "store-model-")));
  const root = join(beside, "disk");
  mkdirSync(root);
  const canFill = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${diskBytes}`, "tmpfs", root]).status === 0;
  const ballast = join(root, "ballast");
  return {
    root,
    directory: join(root, "store"),
    beside,
    canFill,
    fill() {
      const file = openSync(ballast, "w");
      try {
        for (const size of [1024 * 1024, 4096]) fillBy(file, Buffer.alloc(size));
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(ballast, { force: true }),
    remove() {
      // A lazy unmount: it completes when the last descriptor is closed.
      if (canFill) spawnSync("umount", ["-l", root]);
      rmSync(beside, { recursive: true, force: true });
    },
  };
}

function fillBy(file: number, bytes: Buffer): void {
  for (;;) {
    try {
      writeSync(file, bytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOSPC") return;
      throw error;
    }
  }
}
