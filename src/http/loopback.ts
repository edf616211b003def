// Whether a host is this machine itself: what is sent there crosses no network.

/** By its name or address, without the brackets of IPv6. No name is looked up. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, "");
  return (
    name === "localhost" ||
    name.endsWith(".localhost") ||
    name === "::1" ||
    /^(::ffff:)?127(\.\d{1,3}){3}$/.test(name)
  );
}
