// Networks in policies, such as 10.0.0.0/8 or 2001:db8::/32.
import { BlockList, isIP } from "node:net";

export interface Network {
  readonly family: "ipv4" | "ipv6";
  readonly address: string;
  readonly length: number;
}

export function parseNetwork(text: string): Network | undefined {
  const [, address = "", length] = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  if (version === 0) return undefined;
  const maxLength = version === 4 ? 32 : 128;
  const bits = length === undefined ? maxLength : Number(length);
  return bits > maxLength ? undefined : { family: version === 4 ? "ipv4" : "ipv6", address, length: bits };
}

/** Returns a function that tells whether an address is in one of the networks. */
export function createNetworkMatcher(networks: readonly Network[]): (address: string) => boolean {
  const list = new BlockList();
  for (const { address, length, family } of networks) list.addSubnet(address, length, family);
  return (given) => {
    // An IPv4 client of a socket for both families.
    const address = given.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "");
    const version = isIP(address);
    return version !== 0 && list.check(address, version === 4 ? "ipv4" : "ipv6");
  };
}
