// Which requests name a host at all: of what is none no URL can be made, and it is the visitor's fault, not the script's.
import type { HttpRequest } from "../../http/server/listen.ts";

/** Those seen lately: asking costs more than all else that is done with them. */
const validityByHost = new Map<string, boolean>();
const maxCachedHosts = 1000;

/** Whether the request's URL is one (RFC 9112 3.2 asks for a 400 otherwise). */
export function hasValidHost({ target, header }: Pick<HttpRequest, "target" | "header">): boolean {
  if (/^https?:\/\//i.test(target)) return URL.canParse(target);
  const host = header("host") ?? "localhost";
  const cached = validityByHost.get(host);
  if (cached !== undefined) return cached;
  // Nothing but a host: a path, a user or a query would become another URL.
  const isValid = !/[/\\?#@\s]/.test(host) && URL.canParse(`http://${host}/`);
  if (validityByHost.size >= maxCachedHosts) validityByHost.clear();
  validityByHost.set(host, isValid);
  return isValid;
}
