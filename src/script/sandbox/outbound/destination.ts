// Decides whether a script may fetch a URL, and which addresses the request may go to.
import { blockedPorts } from "../../../http/outbound/blocked-ports.ts";
import { createDnsLookup, createListedLookup, type Lookup } from "../../../http/outbound/lookup.ts";
import { findAddresses, isOutside, listOwnAddresses } from "../../../http/outbound/outside-addresses.ts";
import type { TargetUrl } from "../../../http/outbound/target-url.ts";
import type { Outbound } from "../../bindings.ts";
import { type HostRules, parseHostRules } from "./host-rules.ts";

export interface Destination {
  readonly addresses: readonly string[];
}

export interface Refusal {
  /** The reason with a name of RFC 9209. */
  readonly fault: "http_request_denied" | "destination_ip_prohibited";
  readonly status: 403 | 502;
  /** For the script. Continues "fetch of … " and names no address that the script does not know. */
  readonly message: string;
  /** For the operator: why, and what to change. */
  readonly advice: string;
}

export type FindDestination = (url: TargetUrl) => Promise<Destination | Refusal>;

export interface DestinationOptions {
  readonly outbound: Outbound;
  /** Default: the DNS servers of the system, for listed names also its hosts file. */
  readonly lookup?: Lookup | undefined;
  /** Returns the addresses of this machine, which are refused although they may be public. */
  readonly ownAddresses?: (() => readonly string[]) | undefined;
}

const noRules: HostRules = { allows: () => false, namesAddress: () => false };

/** Throws a RangeError if `outbound` has an entry that is not valid. */
export function createDestinationFinder(options: DestinationOptions): FindDestination {
  const { outbound, ownAddresses = listOwnAddresses } = options;
  const rules = typeof outbound === "string" ? noRules : parseHostRules(outbound);
  const dnsLookup = options.lookup ?? createDnsLookup();
  const lookup =
    typeof outbound === "string" || options.lookup !== undefined ? dnsLookup : createListedLookup(dnsLookup);

  function isPermitted(address: string, url: TargetUrl): boolean {
    if (rules.namesAddress(address, url)) return true;
    return isOutside(address, ownAddresses);
  }

  return async (url) => {
    if (outbound === "none" || (outbound !== "public" && !rules.allows(url))) return denied(url);
    if (outbound === "public" && blockedPorts.has(url.port)) return deniedPort(url);
    const found = await findAddresses(url, lookup);
    const addresses = found.filter((address) => isPermitted(address, url));
    return addresses.length > 0 ? { addresses } : prohibited(url, found);
  };
}

function denied({ authority }: TargetUrl): Refusal {
  const message = "was refused: add it to outbound in the configuration";
  return {
    ...{ fault: "http_request_denied", status: 403, message },
    advice: `to permit it, add "${authority}" to outbound in the configuration`,
  };
}

function deniedPort({ port, authority }: TargetUrl): Refusal {
  const message = `was refused: port ${port} belongs to another protocol`;
  return {
    ...{ fault: "http_request_denied", status: 403, message },
    advice: `port ${port} belongs to another protocol; to permit it, list "${authority}" in outbound`,
  };
}

/** A name without any address gets the same answer: scripts must not learn names of the network. */
function prohibited({ host, isAddress, authority }: TargetUrl, found: readonly string[]): Refusal {
  const fault = "destination_ip_prohibited";
  if (isAddress) {
    const message = "was refused: it is not a public address";
    return {
      fault,
      status: 403,
      message,
      advice: `not public; to permit it, list "${authority}" in outbound`,
    };
  }
  const advice =
    found.length === 0
      ? "the name was not found"
      : `it resolves to ${found[0]}, which is not public; to permit it, list "${host}" and the address`;
  return { fault, status: 502, message: "failed: no public address was found for this name", advice };
}
