// Rate limiter binding in env. It counts in memory: each process of a server counts separately, and
// a restart resets the counts.
import type { RateLimiterBinding } from "../../bindings.ts";

type Limits = Pick<RateLimiterBinding, "limit" | "periodSeconds">;

/** Maximum number of keys in memory; beyond it, the oldest key is removed. */
const maxKeys = 100_000;

export class RateLimiter {
  readonly #limits: Limits;
  readonly #now: () => number;
  readonly #counts = new Map<string, number>();
  #period = 0;

  /** `now` is a clock in milliseconds. */
  constructor(limits: Limits, now: () => number = Date.now) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Counts a request for the key. `success` is false once the key exceeds its limit. */
  async limit(options: { readonly key: string }): Promise<{ success: boolean }> {
    const key: unknown = (options as { readonly key?: unknown } | undefined)?.key;
    if (typeof key !== "string") throw new TypeError("limit() takes an object with a string as its key.");
    this.#beginPeriod();
    const count = (this.#counts.get(key) ?? 0) + 1;
    if (count > this.#limits.limit) return { success: false };
    this.#counts.set(key, count);
    if (this.#counts.size > maxKeys) this.#counts.delete(this.#counts.keys().next().value!);
    return { success: true };
  }

  /** Periods are aligned to the clock, so that one number identifies a period. */
  #beginPeriod(): void {
    const period = Math.floor(this.#now() / (this.#limits.periodSeconds * 1000));
    if (period === this.#period) return;
    this.#period = period;
    this.#counts.clear();
  }
}
