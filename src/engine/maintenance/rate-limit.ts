// How fast a scrub goes: slow enough that nobody notices, fast enough that the whole store takes less than a week.
import type { Context } from "../context.ts";

const leastBytesPerSecond = 16 * 1024 * 1024;
const wholeStoreSeconds = 5 * 86_400;
/** What an object counts for at least: small ones cost more than their bytes. */
const objectBytes = 64 * 1024;
const shortestPause = 20;
/** So that whoever ends it does not wait. */
const longestPause = 200;

export interface Pace {
  /** Bytes were read. */
  spend(bytes: number): Promise<void>;
  /** An object was looked at. */
  rest(): Promise<void>;
}

export function createPace(context: Context, given: number | undefined, isStopped: () => boolean): Pace {
  let rate = given;
  let owed = 0;

  async function pay(bytes: number): Promise<void> {
    rate ??= Math.max(leastBytesPerSecond, (await storedBytes(context)) / wholeStoreSeconds);
    owed += (bytes / rate) * 1000;
    if (owed < shortestPause) return;
    while (owed > 0 && !isStopped()) {
      const milliseconds = Math.min(owed, longestPause);
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
      owed -= milliseconds;
    }
    owed = 0;
  }

  return { spend: pay, rest: () => pay(objectBytes) };
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
