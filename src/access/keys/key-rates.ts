// Rates of access keys: requests and bytes per second, as token buckets that hold one second. Each
// process of a port has an equal share of every rate.

/** Limits of an access key. Undefined: no limit. */
export interface KeyLimits {
  readonly requestsPerSecond?: number | undefined;
  /** Of request and response bodies together. */
  readonly bytesPerSecond?: number | undefined;
}

export interface KeyRates {
  /** Takes a request. Returns 0, or the milliseconds after which a refused request can be tried again. */
  takeRequest(accessKeyId: string, limits: KeyLimits): number;
  /** Takes bytes, also beyond the limit. Returns the milliseconds to wait before the next bytes. */
  takeBytes(accessKeyId: string, limits: KeyLimits, bytes: number): number;
}

interface TokenBucket {
  tokens: number;
  at: number;
}

const maxKeys = 10_000;

export function createKeyRates(now: () => number, processes: number): KeyRates {
  const requests = new Map<string, TokenBucket>();
  const bytes = new Map<string, TokenBucket>();

  function refill(buckets: Map<string, TokenBucket>, name: string, perSecond: number): TokenBucket {
    // A share of less than one request still lets one request pass at a time.
    const capacity = Math.max(1, perSecond);
    const time = now();
    let bucket = buckets.get(name);
    if (bucket === undefined) {
      if (buckets.size >= maxKeys) buckets.delete(buckets.keys().next().value!);
      bucket = { tokens: capacity, at: time };
      buckets.set(name, bucket);
    }
    const seconds = Math.max(0, time - bucket.at) / 1000;
    bucket.tokens = Math.min(capacity, bucket.tokens + seconds * perSecond);
    bucket.at = time;
    return bucket;
  }

  return {
    takeRequest(accessKeyId, { requestsPerSecond }) {
      if (requestsPerSecond === undefined) return 0;
      const perSecond = requestsPerSecond / processes;
      const bucket = refill(requests, accessKeyId, perSecond);
      if (bucket.tokens < 1) return Math.ceil(((1 - bucket.tokens) / perSecond) * 1000);
      bucket.tokens--;
      return 0;
    },
    takeBytes(accessKeyId, { bytesPerSecond }, count) {
      if (bytesPerSecond === undefined) return 0;
      const perSecond = bytesPerSecond / processes;
      const bucket = refill(bytes, accessKeyId, perSecond);
      bucket.tokens -= count;
      return bucket.tokens >= 0 ? 0 : Math.ceil((-bucket.tokens / perSecond) * 1000);
    },
  };
}
