// Measures how long a runtime is blocked, and lowers the priority of one that is: until it is ended, it
// must not take processor time from the scripts beside it.
import { constants, setPriority } from "node:os";
import { createStandstillWatch, type StandstillWatch } from "../../child/standstill.ts";

/** The pool sends new requests to another process then, so a low priority delays no other request. */
const blockedCpuMilliseconds = 500;

export function watchRuntime(
  pid: number,
  watch: StandstillWatch = createStandstillWatch(pid),
): StandstillWatch {
  let isLowered = false;
  return {
    ...watch,
    async measure() {
      const standstill = await watch.measure();
      if (!isLowered && standstill.cpuMilliseconds >= blockedCpuMilliseconds) {
        isLowered = true;
        lowerPriority(pid);
      }
      return standstill;
    },
  };
}

/** Lowers the priority of the main thread, which runs the script. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // The process has ended.
  }
}
