// When a process is killed: mostly after so many of its reports, at times at the sight of a file that it makes at a
// moment of its own.
import { watch } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../../support/random.ts";

export interface Instant {
  /** Undefined: as the number of reports, or chance, will have it. */
  readonly at?: Promise<unknown>;
  close(): void;
}

export function chooseInstant(directory: string, random: Random, round: number): Instant {
  const dice = random.below(20);
  // The reserve is set aside once in a directory's life, at the first write.
  if (round === 0 && dice < 8) return whenMade(directory, (name) => name.startsWith("reserve"), 0);
  // A process announces itself, then recovers what the dead have left, then begins to serve.
  if (dice < 2)
    return whenMade(join(directory, "processes"), (name) => name.endsWith(".lock"), random.below(50));
  return { close() {} };
}

/** At the sight of such a file in the folder, or a moment behind it. */
function whenMade(folder: string, isWanted: (name: string) => boolean, milliseconds: number): Instant {
  let close = () => {};
  const at = new Promise<unknown>((resolve) => {
    const watcher = watch(folder, { persistent: false }, (_, name) => {
      if (name === null || !isWanted(name)) return;
      watcher.close();
      resolve(milliseconds === 0 ? undefined : delay(milliseconds));
    });
    close = () => watcher.close();
  });
  return { at, close: () => close() };
}
