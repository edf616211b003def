// How fast a scrub goes: slow enough that nobody notices, fast enough that the whole store takes less than a week.
import type { Context } from "../context.ts";

const minBytesPerSecond = 16 * 1024 * 1024;
const wholeStoreSeconds = 5 * 86_400;
/** What an object counts for at least: small ones cost more than their bytes. */
const objectBytes = 64 * 1024;
const minPause = 20;
/** So that whoever ends it does not wait. */
const maxPause = 200;

export interface RateLimit {
  /** Bytes were read. */
  consume(bytes: number): Promise<void>;
  /** An object was looked at. */
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

/** Of all buckets that can be counted. */
export async function storedBytes({ records }: Pick<Context, "records">): Promise<number> {
  let bytes = 0;
  for (const { name } of await records.buckets("sound")) {
    // One that cannot is told of when it is read.
    bytes += await records.totals(name).then(
      (totals) => totals.bytes,
      () => 0,
    );
  }
  return bytes;
}
