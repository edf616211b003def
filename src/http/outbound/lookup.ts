// Resolves the names of hosts that scripts and bucket administrators chose.
import { Resolver, lookup as systemLookup } from "node:dns/promises";

/** Returns all addresses of a name; an empty list if there are none. */
export type Lookup = (name: string) => Promise<readonly string[]>;

/**
 * Queries the DNS servers of the system directly. The lookup of the operating system would occupy a
 * thread that files need too, and others can choose names whose servers never answer.
 */
export function createDnsLookup(servers?: readonly string[]): Lookup {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  return shareLookups(async (name) => {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  });
}

/** For names that the operator chose: also asks the operating system, which knows /etc/hosts. */
export function createListedLookup(dnsLookup: Lookup): Lookup {
  return shareLookups(async (name) => {
    const found = await dnsLookup(name);
    if (found.length > 0) return found;
    const answers = await systemLookup(name, { all: true }).catch(() => []);
    return answers.map(({ address }) => address);
  });
}

/** Concurrent lookups of one name share a query. */
function shareLookups(lookup: Lookup): Lookup {
  const pending = new Map<string, Promise<readonly string[]>>();
  return (name) => {
    const existing = pending.get(name);
    if (existing !== undefined) return existing;
    const started = lookup(name).finally(() => pending.delete(name));
    pending.set(name, started);
    return started;
  };
}
