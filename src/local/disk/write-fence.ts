// The fence: after the first failed sync nothing more is acknowledged. What the kernel has dropped it does
// not report twice, so a sync that is tried again may answer "ok" for bytes that never reached the disk.
import { StoreError } from "../../model/errors.ts";

export interface Fence {
  /** Throws once the fence is down. */
  check(): void;
  /** Brings the fence down, for good, and gives the error to answer with. */
  fall(cause: unknown): StoreError;
}

export function createFence(): Fence {
  let fallen: StoreError | undefined;
  return {
    check() {
      if (fallen !== undefined) throw fallen;
    },
    fall(cause) {
      fallen ??= new StoreError("ServiceUnavailable", {
        detail:
          "A write could not be made durable, so this process accepts no more writes: check the disk, then restart.",
        cause,
      });
      return fallen;
    },
  };
}
