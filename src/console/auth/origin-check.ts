// Keeps other pages out: a request must name this console in Host, and one that changes something must come from its
// own page. The session's cookie alone proves nothing: a browser sends it for whoever asks.
import { isIP } from "node:net";
import type { HttpRequest } from "../../http/server/listen.ts";
import { ConsoleError } from "../response.ts";

/** A page of another origin cannot send it without being allowed to, and nobody is. */
export const ownHeader = "x-store-console";

/**
 * A name that is not ours may be one that somebody else's page has made point here. Addresses are let through: no
 * name was looked up for them.
 */
export function checkHost(request: HttpRequest, names: readonly string[]): void {
  const host = hostname(request.header("host") ?? "");
  const isAddress = isIP(host.replace(/^\[(.*)\]$/, "$1")) !== 0;
  if (isAddress || host === "localhost" || names.some((name) => hostname(name) === host)) return;
  throw new ConsoleError(421, "The console does not answer to this name.", {
    hint: "Start the server with --console-url and the URL in your address bar, without a path.",
  });
}

/** `example.com:9001` → `example.com` */
function hostname(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, "");
}

/**
 * Refuses what another page has sent; what changes something must have come from our own. A proxy may have put its own
 * name for us in Host: then the page is that of a name we were given.
 */
export function checkOrigin(request: HttpRequest, names: readonly string[]): void {
  const site = request.header("sec-fetch-site");
  if (site !== undefined && site !== "same-origin" && site !== "none") throw otherOrigin();
  if (request.method === "GET" || request.method === "HEAD") return;
  const origin = request.header("origin");
  const from = origin === undefined ? undefined : originHost(origin);
  const isOwn =
    origin === undefined ||
    (from !== undefined && (from === request.header("host")?.toLowerCase() || names.includes(from)));
  if (!isOwn || site === "none" || request.header(ownHeader) === undefined) throw otherOrigin();
}

/** `https://example.com:9001` → `example.com:9001`; what has no host is nobody's. */
function originHost(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/.exec(origin)?.[1]?.toLowerCase();
}

function otherOrigin(): ConsoleError {
  return new ConsoleError(403, "This request did not come from the console's own page.", {
    hint: `A program sends the header ${ownHeader} and no Origin.`,
  });
}
