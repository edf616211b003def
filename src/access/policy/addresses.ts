// Networks in policies, such as 10.0.0.0/8 or 2001:db8::/32.
import { Buffer } from "node:buffer";
import { isIP } from "node:net";

export type Family = "ipv4" | "ipv6";

/** The addresses from `first` to `last`. */
export interface Network {
  readonly family: Family;
  readonly first: bigint;
  readonly last: bigint;
}

export function parseNetwork(text: string): Network | undefined {
  const [, address = "", length] = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bytes = parseAddress(address);
  if (bytes === undefined) return undefined;
  const maxLength = bytes.length * 8;
  const bits = length === undefined ? maxLength : Number(length);
  if (bits > maxLength) return undefined;
  const size = 1n << BigInt(maxLength - bits);
  const value = toNumber(bytes);
  const first = value - (value % size);
  return { family: familyOf(bytes), first, last: first + size - 1n };
}

function familyOf(bytes: readonly number[]): Family {
  return bytes.length === 4 ? "ipv4" : "ipv6";
}

function toNumber(bytes: readonly number[]): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
}

/** Returns the networks of one family as ranges in order that neither overlap nor adjoin. */
export function mergeNetworks(networks: readonly Network[], family: Family): readonly Network[] {
  const sorted = networks
    .filter((network) => network.family === family)
    .sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const merged: Network[] = [];
  for (const network of sorted) {
    const previous = merged.at(-1);
    if (previous === undefined || network.first > previous.last + 1n) merged.push(network);
    else if (network.last > previous.last) merged[merged.length - 1] = { ...previous, last: network.last };
  }
  return merged;
}

/** Returns a function that checks whether an address is in one of the networks. */
export function createNetworkMatcher(networks: readonly Network[]): (address: string) => boolean {
  const ranges = { ipv4: mergeNetworks(networks, "ipv4"), ipv6: mergeNetworks(networks, "ipv6") };
  /** The last result: most requests come from few addresses. */
  let last = { address: "", isInside: false };
  return (address) => {
    if (address === last.address) return last.isInside;
    const bytes = parseAddress(address);
    const isInside = bytes !== undefined && isInRanges(ranges[familyOf(bytes)], toNumber(bytes));
    last = { address, isInside };
    return isInside;
  };
}

/** Searches by halves, so that a long list of networks costs little. */
function isInRanges(ranges: readonly Network[], address: bigint): boolean {
  let [from, to] = [0, ranges.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const { first, last } = ranges[middle]!;
    if (address < first) to = middle;
    else if (address > last) from = middle + 1;
    else return true;
  }
  return false;
}

/** Returns the bytes of an address. An IPv4 address in IPv6 is the IPv4 address. */
function parseAddress(text: string): readonly number[] | undefined {
  const version = isIP(text);
  if (version === 4) return text.split(".").map(Number);
  // An address with a zone is of one machine only, and in no network.
  if (version === 0 || text.includes("%")) return undefined;
  const bytes = parseIpv6(text);
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;
  return isMapped ? bytes.slice(12) : bytes;
}

/** Parses text that is known to be valid. */
function parseIpv6(text: string): number[] {
  const [head = "", tail] = text.split("::", 2);
  const first = groupBytes(head);
  if (tail === undefined) return first;
  const last = groupBytes(tail);
  return [...first, ...Array<number>(16 - first.length - last.length).fill(0), ...last];
}

function groupBytes(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (group.includes(".")) return group.split(".").map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 255];
  });
}
