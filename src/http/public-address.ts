// Decides whether an IP address belongs to the public Internet, so that requests on behalf of
// others cannot reach this machine, its network or the metadata service of its cloud.
import { isIP } from "node:net";

/** The bytes of an address, 4 or 16, and the number of bits that addresses of the network share. */
type Network = readonly [bytes: readonly number[], bits: number];

/** IPv4 networks of the IANA registry of special-purpose addresses, multicast and reserved ones. */
const specialIpv4 = networks(`
  0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
  192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24
  224.0.0.0/4 240.0.0.0/4 168.63.129.16/32
`);

/** Outside of this network, no IPv6 address is assigned to the public Internet. */
const globalIpv6 = networks("2000::/3");

/** Protocol assignments (with Teredo), documentation, and 6to4, which carries an IPv4 address. */
const specialIpv6 = networks("2001::/23 2001:db8::/32 2002::/16 3fff::/20");

/** Networks whose addresses end with an IPv4 address that packets are sent to: mapped, NAT64. */
const embeddingIpv6 = networks("::ffff:0:0/96 64:ff9b::/96");

/** Takes an address as text; false for text that is not an address, and for zones. */
export function isPublicAddress(text: string): boolean {
  const bytes = parseIpAddress(text);
  if (bytes === undefined) return false;
  if (bytes.length === 4) return !isIn(specialIpv4, bytes);
  if (isIn(embeddingIpv6, bytes)) return !isIn(specialIpv4, bytes.slice(12));
  return isIn(globalIpv6, bytes) && !isIn(specialIpv6, bytes);
}

/** Whether two texts are the same address. An IPv4-mapped address equals its IPv4 address. */
export function isSameAddress(a: string, b: string): boolean {
  const [first, second] = [a, b].map((text) => plainBytes(parseIpAddress(text)));
  return first !== undefined && second !== undefined && first.join() === second.join();
}

function plainBytes(bytes: readonly number[] | undefined): readonly number[] | undefined {
  const isMapped = bytes?.length === 16 && isIn([embeddingIpv6[0]!], bytes);
  return isMapped ? bytes.slice(12) : bytes;
}

/** Returns the 4 or 16 bytes of an address; undefined for other text, and for zones. */
function parseIpAddress(text: string): readonly number[] | undefined {
  const version = isIP(text);
  if (version === 4) return text.split(".").map(Number);
  if (version === 0 || text.includes("%")) return undefined;
  const [head = "", tail] = text.split("::", 2);
  const first = groupBytes(head);
  if (tail === undefined) return first;
  const last = groupBytes(tail);
  return [...first, ...Array<number>(16 - first.length - last.length).fill(0), ...last];
}

/** Parses groups of valid text, of which the last may be an IPv4 address. */
function groupBytes(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (group.includes(".")) return group.split(".").map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 255];
  });
}

function networks(text: string): readonly Network[] {
  return text
    .trim()
    .split(/\s+/)
    .map((network) => {
      const [address = "", bits] = network.split("/");
      return [parseIpAddress(address)!, Number(bits)];
    });
}

function isIn(list: readonly Network[], address: readonly number[]): boolean {
  return list.some(([bytes, bits]) => {
    const whole = bits >> 3;
    const rest = bits & 7;
    for (let i = 0; i < whole; i++) if (bytes[i] !== address[i]) return false;
    return rest === 0 || (bytes[whole]! ^ address[whole]!) >> (8 - rest) === 0;
  });
}
