// Limits failed sign-ins per client network and token id, the public part of a token. An attacker
// at another address cannot lock out the owner of a token.
import { clientNetwork } from "../../http/client-network.ts";

export interface Attempts {
  /** Returns the seconds to wait before an attempt, or 0. A malformed token has no `id`. */
  waitFor(address: string, id: string | undefined): number;
  failed(address: string, id: string | undefined): void;
}

const windowMilliseconds = 60_000;
const defaultMaxFailures = 10;
/** Maximum number of entries, to limit memory. */
const maxEntries = 10_000;

export function createAttempts(now: () => number, maxFailures = defaultMaxFailures): Attempts {
  const failures = new Map<string, { count: number; since: number }>();
  const entryName = (address: string, id = "") => `${clientNetwork(address)} ${id}`;
  const current = (name: string) => {
    const found = failures.get(name);
    if (found === undefined) return undefined;
    const age = now() - found.since;
    // A clock that was set back must not lock clients out until it has caught up.
    return age >= 0 && age < windowMilliseconds ? found : undefined;
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
      // Inserted again at the end, so that the oldest entry is evicted first.
      failures.delete(name);
      failures.set(name, found);
      if (failures.size > maxEntries) failures.delete(failures.keys().next().value!);
    },
  };
}
