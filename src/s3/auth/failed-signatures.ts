// Limits the rate of wrong signatures with a token bucket per pair of client network and access key
// id. While the bucket is empty, requests are refused before any lookup or hashing.
import { clientNetwork } from "../../http/client-network.ts";
import { S3Error } from "../errors.ts";

export interface FailedSignatures {
  /** Throws SlowDown if the token bucket of this pair is empty. */
  check(address: () => string, accessKeyId: string): void;
  record(address: () => string, accessKeyId: string): void;
}

export interface FailureLimits {
  /** Size of the token bucket; default: 20. */
  readonly burst?: number;
  /** Tokens added per second; default: 5, so that an empty bucket is full after four seconds. */
  readonly perSecond?: number;
  /** Maximum number of pairs; the least recently used is evicted first. Default: 10,000. */
  readonly pairs?: number;
}

interface TokenBucket {
  tokens: number;
  /** Time of the last refill, in milliseconds. */
  time: number;
}

export function createFailedSignatures(
  now: () => number,
  { burst = 20, perSecond = 5, pairs = 10_000 }: FailureLimits = {},
): FailedSignatures {
  const buckets = new Map<string, TokenBucket>();

  /** Adds the tokens since the last call. Undefined if the bucket is full or does not exist. */
  function refill(name: string): TokenBucket | undefined {
    const bucket = buckets.get(name);
    if (bucket === undefined) return undefined;
    const time = now();
    // If the clock was set back, the bucket does not change.
    bucket.tokens += (Math.max(0, time - bucket.time) / 1000) * perSecond;
    bucket.time = time;
    buckets.delete(name);
    if (bucket.tokens >= burst) return undefined;
    buckets.set(name, bucket);
    return bucket;
  }

  return {
    check(address, accessKeyId) {
      // The common case: no client has failed recently.
      if (buckets.size === 0) return;
      const bucket = refill(toPairName(address, accessKeyId));
      if (bucket === undefined || bucket.tokens >= 1) return;
      throw new S3Error("SlowDown", {
        message:
          "Too many requests with a wrong signature from your address. Check your secret access key, then try again.",
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

/** Limits memory: the client chooses the access key id, which may be as long as a header. */
const maxIdLength = 64;

function toPairName(address: () => string, accessKeyId: string): string {
  return `${clientNetwork(address())} ${accessKeyId.slice(0, maxIdLength)}`;
}
