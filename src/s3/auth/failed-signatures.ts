// Wrong signatures, counted for each client address and access key id. Each pair has a token bucket that a failure
// takes from: when it is empty, requests are refused before anything is looked up or hashed, until it fills again.
import { S3Error } from "../errors.ts";

export interface FailedSignatures {
  /** Throws SlowDown for a pair that has failed too often of late. */
  check(address: () => string, accessKeyId: string): void;
  record(address: () => string, accessKeyId: string): void;
}

export interface FailureLimits {
  /** Failures at once; default: 20. */
  readonly burst?: number;
  /** How fast the bucket fills again; default: 5, so that it is full within four seconds. */
  readonly perSecond?: number;
  /** Pairs that are remembered, the least recent forgotten first; default: 10,000. */
  readonly pairs?: number;
}

interface TokenBucket {
  tokens: number;
  /** When the tokens were counted. */
  time: number;
}

export function createFailedSignatures(
  now: () => number,
  { burst = 20, perSecond = 5, pairs = 10_000 }: FailureLimits = {},
): FailedSignatures {
  const buckets = new Map<string, TokenBucket>();

  /** With what has come in since; undefined for a pair that is not known, or whose bucket is full again. */
  function refill(name: string): TokenBucket | undefined {
    const bucket = buckets.get(name);
    if (bucket === undefined) return undefined;
    const time = now();
    // A clock that was set back fills nothing, and empties nothing.
    bucket.tokens += (Math.max(0, time - bucket.time) / 1000) * perSecond;
    bucket.time = time;
    buckets.delete(name);
    if (bucket.tokens >= burst) return undefined;
    buckets.set(name, bucket);
    return bucket;
  }

  return {
    check(address, accessKeyId) {
      // Almost always: no one has failed, and nothing is spent on it.
      if (buckets.size === 0) return;
      const bucket = refill(toPairName(address, accessKeyId));
      if (bucket === undefined || bucket.tokens >= 1) return;
      throw new S3Error("SlowDown", {
        message: "Too many requests with a wrong signature came from your address. Please try again later.",
        retryAfterSeconds: Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond)),
      });
    },
    record(address, accessKeyId) {
      const name = toPairName(address, accessKeyId);
      const bucket = refill(name) ?? { tokens: burst, time: now() };
      bucket.tokens = Math.max(0, bucket.tokens - 1);
      buckets.set(name, bucket);
      if (buckets.size > pairs) buckets.delete(buckets.keys().next().value!);
    },
  };
}

/** An id is text of the client's own, and may be as long as a header. */
const maxIdLength = 64;

function toPairName(address: () => string, accessKeyId: string): string {
  return `${address()} ${accessKeyId.slice(0, maxIdLength)}`;
}
