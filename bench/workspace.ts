// The fresh directory everything happens in, gone when the run ends, also when it is interrupted.
import { mkdtempSync, rmSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";

/** Its path. Removed when the process ends, by itself or by a signal. */
export function createWorkspace(parent: string, beforeRemoval: () => void): string {
  const directory = mkdtempSync(join(parent, "store-bench-"));
  const remove = () => {
    beforeRemoval();
    removeTree(directory);
  };
  process.once("exit", remove);
  // As a shell tells it. Ending by the signal itself would leave running whatever ends with this process.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
  }
  return directory;
}

/** Threads that still write may fill a folder again while it is emptied: what they had begun ends soon. */
function removeTree(directory: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      rmSync(directory, { recursive: true, force: true });
      return;
    } catch (error) {
      if (attempt === 1000) throw error;
    }
  }
}
