// Stops all writes of the process after the first failed sync. The kernel reports dropped pages
// only once, so a repeated sync can succeed although the bytes never reached the disk.
import { StoreError } from "../../model/errors.ts";

export interface WriteStop {
  /** Throws if `trip` was called. */
  check(): void;
  /** Stops writes until the process restarts; returns the error to report. */
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
