// A value that is loaded from a provider and cached. Failed loads are limited too, because anyone can
// send a token that causes a load.
import { OidcError } from "./oidc-error.ts";

export interface CachedValue<T> {
  /** Loads the value if it is missing or too old. */
  get(): Promise<T>;
  /** Loads the value again, unless that was tried a short time ago. */
  refresh(): Promise<T>;
}

export interface CachedValueOptions<T> {
  readonly load: () => Promise<T>;
  readonly maxAgeMilliseconds: number;
  /** Minimum time between loads by `refresh`. */
  readonly refreshMilliseconds: number;
  readonly now: () => number;
}

/** Time after a failed load in which the same error is thrown again. */
const failureMilliseconds = 2000;

export function createCachedValue<T>(options: CachedValueOptions<T>): CachedValue<T> {
  const { load, maxAgeMilliseconds, refreshMilliseconds, now } = options;
  let value: { readonly loaded: T; readonly time: number } | undefined;
  let failure: { readonly error: OidcError; readonly time: number } | undefined;
  let inFlight: Promise<T> | undefined;
  const isWithin = (time: number, milliseconds: number) => Math.abs(now() - time) < milliseconds;

  async function loadNow(): Promise<T> {
    if (failure !== undefined && isWithin(failure.time, failureMilliseconds)) throw failure.error;
    try {
      const loaded = await load();
      value = { loaded, time: now() };
      failure = undefined;
      return loaded;
    } catch (error) {
      if (error instanceof OidcError) failure = { error, time: now() };
      throw error;
    } finally {
      inFlight = undefined;
    }
  }
  function loadOnce(): Promise<T> {
    inFlight ??= loadNow();
    return inFlight;
  }
  return {
    async get() {
      return value !== undefined && isWithin(value.time, maxAgeMilliseconds) ? value.loaded : loadOnce();
    },
    async refresh() {
      return value !== undefined && isWithin(value.time, refreshMilliseconds) ? value.loaded : loadOnce();
    },
  };
}
