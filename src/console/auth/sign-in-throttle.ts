// How often a client may be wrong about a token. Counted for each address and the open part of the token that was
// tried, which is not a secret: someone elsewhere who guesses does not lock out the person who holds the token.

export interface Attempts {
  /** Seconds until the next try is looked at; 0 when it may come now. The id is undefined for what is not a token. */
  waitFor(address: string, id: string | undefined): number;
  failed(address: string, id: string | undefined): void;
}

const windowMilliseconds = 60_000;
const maxFailures = 10;
/** So that many addresses and ids do not fill the memory. */
const maxEntries = 10_000;

export function createAttempts(now: () => number): Attempts {
  const failures = new Map<string, { count: number; since: number }>();
  const entryName = (address: string, id = "") => `${address} ${id}`;
  const current = (name: string) => {
    const found = failures.get(name);
    return found !== undefined && now() - found.since < windowMilliseconds ? found : undefined;
  };
  return {
    waitFor(address, id) {
      const found = current(entryName(address, id));
      if (found === undefined || found.count < maxFailures) return 0;
      return Math.ceil((found.since + windowMilliseconds - now()) / 1000);
    },
    failed(address, id) {
      const name = entryName(address, id);
      const found = current(name) ?? { count: 0, since: now() };
      found.count++;
      // The latest last, so that the oldest goes first.
      failures.delete(name);
      failures.set(name, found);
      if (failures.size > maxEntries) failures.delete(failures.keys().next().value!);
    },
  };
}
