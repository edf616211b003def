// Whether a host is this machine, so that traffic to it crosses no network.

/** Takes a name or an address without the brackets of IPv6. No name is resolved. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, "");
  return (
    name === "localhost" ||
    name.endsWith(".localhost") ||
    name === "::1" ||
    /^(::ffff:)?127(\.\d{1,3}){3}$/.test(name)
  );
}
