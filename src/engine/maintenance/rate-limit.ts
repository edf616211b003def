// Rate limit of a scrub: slow enough not to slow down requests, fast enough to finish within a
// week.
import { setTimeout } from "node:timers";
import type { Context } from "../context.ts";

const minBytesPerSecond = 16 * 1024 * 1024;
const wholeStoreSeconds = 5 * 86_400;
/** Minimum number of bytes charged per object, because a small object costs more than its bytes. */
const objectBytes = 64 * 1024;
const minPause = 20;
/** Maximum pause in milliseconds: a scrub stops only between pauses. */
const maxPause = 200;

export interface RateLimit {
  /** Charges bytes that were read, and waits if the rate is exceeded. */
  consume(bytes: number): Promise<void>;
  /** Charges one object, and waits if the rate is exceeded. */
  consumeObject(): Promise<void>;
}

export function createRateLimit(
  context: Context,
  bytesPerSecond: number | undefined,
  isStopped: () => boolean,
): RateLimit {
  let rate = bytesPerSecond;
  let debt = 0;

  async function wait(bytes: number): Promise<void> {
    rate ??= Math.max(minBytesPerSecond, (await storedBytes(context)) / wholeStoreSeconds);
    debt += (bytes / rate) * 1000;
    if (debt < minPause) return;
    while (debt > 0 && !isStopped()) {
      const milliseconds = Math.min(debt, maxPause);
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
      debt -= milliseconds;
    }
    debt = 0;
  }

  return { consume: wait, consumeObject: () => wait(objectBytes) };
}

/** Returns the total size of all buckets whose totals can be read. */
export async function storedBytes({ records }: Pick<Context, "records">): Promise<number> {
  let bytes = 0;
  for (const { name } of await records.buckets("sound")) {
    // Ignored here: the verification walk reports a bucket that cannot be read.
    bytes += await records.totals(name).then(
      (totals) => totals.bytes + totals.noncurrentBytes,
      () => 0,
    );
  }
  return bytes;
}
