// Rate limit of a scrub: slow enough not to disturb requests, fast enough to finish within a week.
import type { Context } from "../context.ts";

const minBytesPerSecond = 16 * 1024 * 1024;
const wholeStoreSeconds = 5 * 86_400;
/** Minimum charge per object: small objects cost more than their bytes. */
const objectBytes = 64 * 1024;
const minPause = 20;
/** Pauses are short, so that stopping a scrub does not take long. */
const maxPause = 200;

export interface RateLimit {
  /** Charges the bytes that were read. */
  consume(bytes: number): Promise<void>;
  /** Charges one object. */
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

/** Total size of all buckets whose totals can be read. */
export async function storedBytes({ records }: Pick<Context, "records">): Promise<number> {
  let bytes = 0;
  for (const { name } of await records.buckets("sound")) {
    // A bucket that cannot be read is reported by the walk.
    bytes += await records.totals(name).then(
      (totals) => totals.bytes,
      () => 0,
    );
  }
  return bytes;
}
