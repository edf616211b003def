// Networks in policies, such as 10.0.0.0/8 or 2001:db8::/32.
import { isIP } from "node:net";

export interface Network {
  readonly family: "ipv4" | "ipv6";
  /** The bytes of the address: 4 or 16. */
  readonly bytes: readonly number[];
  /** Number of bits that an address of the network shares with it. */
  readonly length: number;
}

export function parseNetwork(text: string): Network | undefined {
  const [, address = "", length] = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bytes = parseAddress(address);
  if (bytes === undefined) return undefined;
  const maxLength = bytes.length * 8;
  const bits = length === undefined ? maxLength : Number(length);
  return bits > maxLength ? undefined : { family: bytes.length === 4 ? "ipv4" : "ipv6", bytes, length: bits };
}

/** Addresses whose result is kept: most requests come from few addresses. */
const maxKnownAddresses = 1024;

/** Returns a function that checks whether an address is in one of the networks. */
export function createNetworkMatcher(networks: readonly Network[]): (address: string) => boolean {
  const known = new Map<string, boolean>();
  return (address) => {
    const found = known.get(address);
    if (found !== undefined) return found;
    const bytes = parseAddress(address);
    const isInside = bytes !== undefined && networks.some((network) => contains(network, bytes));
    if (known.size >= maxKnownAddresses) known.clear();
    known.set(address, isInside);
    return isInside;
  };
}

/** Not node:net's BlockList, which takes many times as long for a single address. */
function contains({ bytes, length }: Network, address: readonly number[]): boolean {
  if (bytes.length !== address.length) return false;
  const whole = length >> 3;
  for (let i = 0; i < whole; i++) if (bytes[i] !== address[i]) return false;
  const rest = length & 7;
  return rest === 0 || (bytes[whole]! ^ address[whole]!) >> (8 - rest) === 0;
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
