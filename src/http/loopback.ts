// Checks whether a host is this machine, so that traffic to it does not leave the machine.

/** Takes a name, or an address without IPv6 brackets. Does not resolve names. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, "");
  return (
    name === "localhost" ||
    name.endsWith(".localhost") ||
    name === "::1" ||
    /^(::ffff:)?127(\.\d{1,3}){3}$/.test(name)
  );
}
