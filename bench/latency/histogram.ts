// Latencies in buckets that grow by one percent: bounded memory for any number of requests.

/** Milliseconds; NaN if there were too few requests, such as fewer than 1,000 for p99.9. */
export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
}

export interface Histogram {
  add(milliseconds: number): void;
  /** Each quantile is the upper bound of its bucket. */
  quantiles(): Quantiles;
}

const growth = Math.log(1.01);
const leastMilliseconds = 0.001;
/** Up to about ten minutes. */
const buckets = 2100;

export function createHistogram(): Histogram {
  const counts = new Float64Array(buckets);
  let total = 0;

  function quantile(share: number): number {
    if (total * (1 - share) < 0.999) return Number.NaN;
    let left = Math.ceil(total * share);
    const index = counts.findIndex((count) => {
      left -= count;
      return left <= 0;
    });
    return index === -1 ? Number.NaN : leastMilliseconds * Math.exp(growth * (index + 1));
  }

  return {
    add(milliseconds) {
      const index = Math.floor(
        Math.log(Math.max(milliseconds, leastMilliseconds) / leastMilliseconds) / growth,
      );
      const bucket = Math.min(index, buckets - 1);
      counts[bucket] = counts[bucket]! + 1;
      total++;
    },
    quantiles: () => ({ p50: quantile(0.5), p99: quantile(0.99), p999: quantile(0.999) }),
  };
}
