// Space kept for the worst day: a delete on a full disk needs room for its own commit before it can free
// any. While the reserve is spent, only what frees space is let through.
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";

const reserveBytes = 4 * 1024 * 1024;

export interface Reserve {
  /** Whether the space is set aside, taking it anew when it was spent and fits again. */
  isHeld(): boolean;
  /** Gives the space to whoever needs it now; false when it was spent before. */
  release(): boolean;
}

export function createReserve(path: string): Reserve {
  return {
    isHeld: () => existsSync(path) || take(path),
    release() {
      if (!existsSync(path)) return false;
      rmSync(path, { force: true });
      return true;
    },
  };
}

function take(path: string): boolean {
  const partial = `${path}.${process.pid}`;
  const descriptor = openSync(partial, "w");
  try {
    const zeros = Buffer.alloc(1024 * 1024);
    for (let written = 0; written < reserveBytes; ) written += writeSync(descriptor, zeros);
    fsyncSync(descriptor);
  } catch {
    closeSync(descriptor);
    rmSync(partial, { force: true });
    return false;
  }
  closeSync(descriptor);
  renameSync(partial, path);
  return true;
}
