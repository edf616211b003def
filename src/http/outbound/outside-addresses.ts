// Addresses of the hosts that requests on behalf of others go to.
import { networkInterfaces } from "node:os";
import { isPublicAddress, isSameAddress } from "../public-address.ts";
import type { Lookup } from "./lookup.ts";
import type { TargetUrl } from "./target-url.ts";

const loopbackAddresses = ["127.0.0.1", "::1"];

/** Returns all addresses of the URL's host; none if the name is not found. */
export async function findAddresses(
  { host, isAddress }: TargetUrl,
  lookup: Lookup,
): Promise<readonly string[]> {
  if (isAddress) return [host];
  if (host === "localhost" || host.endsWith(".localhost")) return loopbackAddresses;
  return lookup(host).catch(() => []);
}

/** Whether an address is public and not one of this machine, which are refused although public. */
export function isOutside(address: string, ownAddresses: () => readonly string[]): boolean {
  return isPublicAddress(address) && !ownAddresses().some((own) => isSameAddress(own, address));
}

export function listOwnAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}
