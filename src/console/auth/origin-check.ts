// Protects against DNS rebinding and cross-site request forgery: Host must name this console, and a
// request that changes something must come from the console's page.
import { isIP } from "node:net";
import type { HttpRequest } from "../../http/server/listen.ts";
import { ConsoleError } from "../response.ts";

/** Other origins need CORS permission to send this header, and the console never grants it. */
export const ownHeader = "x-store-console";

/** Refuses unknown host names, to prevent DNS rebinding. IP addresses need no DNS. */
export function checkHost(request: HttpRequest, names: readonly string[]): void {
  const host = hostname(request.header("host") ?? "");
  const isAddress = isIP(host.replace(/^\[(.*)\]$/, "$1")) !== 0;
  if (isAddress || host === "localhost" || names.some((name) => hostname(name) === host)) return;
  throw new ConsoleError(421, "The console is not configured for this host name.", {
    hint: "Start the server with --console-url, set to the URL in your address bar without the path.",
  });
}

/** Removes the port: `example.com:9001` → `example.com`. */
function hostname(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, "");
}

/** Throws for requests of other pages. If a proxy replaces Host, `names` must have the origin. */
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

/** `https://example.com:9001` → `example.com:9001`; undefined without a host. */
function originHost(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/.exec(origin)?.[1]?.toLowerCase();
}

function otherOrigin(): ConsoleError {
  return new ConsoleError(403, "This request did not come from the console's own page.", {
    hint: `A program must send the header ${ownHeader} and no Origin.`,
  });
}
