// Creates the temporary directory of a run. It is removed at the end, even after an interruption.
import { mkdtempSync, rmSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";

/** Returns the path of a new directory. It is removed when the process exits or gets a signal. */
export function createWorkspace(parent: string, beforeRemoval: () => void): string {
  const directory = mkdtempSync(join(parent, "store-bench-"));
  const remove = () => {
    beforeRemoval();
    removeTree(directory);
  };
  process.once("exit", remove);
  // Exit with the shell's code for the signal: death by the signal would skip the exit handlers.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
  }
  return directory;
}

/** Retries, because threads may still write files to a folder while it is removed. */
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
