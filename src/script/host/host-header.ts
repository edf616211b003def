// Checks the Host header: without a valid host no URL can be built, and the client gets a 400.
import type { HttpRequest } from "../../http/server/listen.ts";

/** Recently checked values: the check costs more than the rest of the request parsing. */
const validityByHost = new Map<string, boolean>();
const maxCachedHosts = 1000;

/** Whether the request's URL is one (RFC 9112 3.2 asks for a 400 otherwise). */
export function hasValidHost({ target, header }: Pick<HttpRequest, "target" | "header">): boolean {
  if (/^https?:\/\//i.test(target)) return URL.canParse(target);
  const host = header("host") ?? "localhost";
  const cached = validityByHost.get(host);
  if (cached !== undefined) return cached;
  // Only a host and port: a path, user or query would produce a different URL.
  const isValid = !/[/\\?#@\s]/.test(host) && URL.canParse(`http://${host}/`);
  if (validityByHost.size >= maxCachedHosts) validityByHost.clear();
  validityByHost.set(host, isValid);
  return isValid;
}
