// Checks the Host header. Without a valid host no URL can be built, and the response is 400.
import { URL } from "node:url";
import type { HttpRequest } from "../../http/server/listen.ts";

/** Cache of recent results: this check costs more than the rest of parsing a request. */
const validityByHost = new Map<string, boolean>();
const maxCachedHosts = 1000;

/** Whether a valid URL can be built from the request; otherwise RFC 9112 3.2 requires a 400. */
export function hasValidHost({ target, header }: Pick<HttpRequest, "target" | "header">): boolean {
  if (/^https?:\/\//i.test(target)) return URL.canParse(target);
  const host = header("host") ?? "localhost";
  const cached = validityByHost.get(host);
  if (cached !== undefined) return cached;
  // Only a host and a port are allowed: a path, user or query would change the URL.
  const isValid = !/[/\\?#@\s]/.test(host) && URL.canParse(`http://${host}/`);
  if (validityByHost.size >= maxCachedHosts) validityByHost.clear();
  validityByHost.set(host, isValid);
  return isValid;
}
