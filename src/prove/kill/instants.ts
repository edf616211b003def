// Chooses when a process is killed: after a number of reports, or when a certain file appears.
import { watch } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../random.ts";

export interface Instant {
  /** Resolves at the time of the kill. If undefined, the number of reports or chance decides. */
  readonly at?: Promise<unknown>;
  close(): void;
}

export function chooseInstant(directory: string, random: Random, round: number): Instant {
  const dice = random.below(20);
  // Kill at the creation of the reserve, once per directory, at the first write.
  if (round === 0 && dice < 8) return whenMade(directory, (name) => name.startsWith("reserve"), 0);
  // Kill during the start: after creating its lock, the process recovers data of dead processes.
  if (dice < 2)
    return whenMade(join(directory, "processes"), (name) => name.endsWith(".lock"), random.below(50));
  return { close() {} };
}

/** Returns an instant: when a wanted file appears in the folder, plus an optional delay. */
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
