// Names the network by which a client is counted in limits per address.

/**
 * Returns an IPv4 address itself, and the /64 network of an IPv6 address: a client has a whole one,
 * and could otherwise use each address of 2^64 once.
 *
 * @example clientNetwork("2001:db8::7:1") // "2001:db8:0:0::/64"
 */
export function clientNetwork(address: string): string {
  if (!address.includes(":")) return address;
  const [first = "", rest] = address.split("::");
  const groups = splitGroups(first);
  if (rest !== undefined) {
    const last = splitGroups(rest);
    // An IPv4 address at the end takes the place of two groups.
    const length = groups.length + last.length + (rest.includes(".") ? 1 : 0);
    groups.push(...Array<string>(Math.max(0, 8 - length)).fill("0"), ...last);
  }
  const network = groups.slice(0, 4).map((group) => group.toLowerCase().replace(/^0+(?=.)/, ""));
  return `${network.join(":")}::/64`;
}

function splitGroups(text: string): string[] {
  return text === "" ? [] : text.split(":");
}
