// The fence: after the first failed sync nothing more is acknowledged. What the kernel has dropped it does
// not report twice, so a sync that is tried again may answer "ok" for bytes that never reached the disk.
import { StoreError } from "../../model/errors.ts";

export interface WriteStop {
  /** Throws once the fence is down. */
  check(): void;
  /** Brings the fence down, for good, and gives the error to answer with. */
  trip(cause: unknown): StoreError;
}

export function createWriteStop(): WriteStop {
  let stopError: StoreError | undefined;
  return {
    check() {
      if (stopError !== undefined) throw stopError;
    },
    trip(cause) {
      stopError ??= new StoreError("ServiceUnavailable", {
        detail:
          "A write could not be made durable, so this process accepts no more writes: check the disk, then restart.",
        cause,
      });
      return stopError;
    },
  };
}
