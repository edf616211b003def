// Headers on their way through the proxy: those of one connection are removed, none is added.
import { hopByHopHeaders } from "../../../http/headers.ts";
import type { TargetUrl } from "../../../http/outbound/target-url.ts";

const hopByHop: ReadonlySet<string> = new Set(hopByHopHeaders);

/** Host is derived from the checked URL; the others are for this proxy, not for the other server. */
const replacedHeaders: ReadonlySet<string> = new Set(["host", "expect", "proxy-authorization"]);

/** Returns alternating names and values. `rawHeaders` alternates too. */
export function requestHeaders(rawHeaders: readonly string[], { authority }: TargetUrl): string[] {
  const headers = ["Host", authority];
  let isChunked = false;
  for (const [name, value] of endToEndHeaders(rawHeaders)) {
    if (!replacedHeaders.has(name.toLowerCase())) headers.push(name, value);
  }
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    isChunked ||= rawHeaders[i]!.toLowerCase() === "transfer-encoding";
  }
  // The listener accepts no other transfer coding than chunked.
  if (isChunked) headers.push("Transfer-Encoding", "chunked");
  return headers;
}

/** Returns headers without those of one connection, which a Connection header can also name. */
export function endToEndHeaders(rawHeaders: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  const named = new Set<string>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const [name, value] = [rawHeaders[i]!, rawHeaders[i + 1]!];
    pairs.push([name, value]);
    if (name.toLowerCase() !== "connection") continue;
    for (const option of value.split(",")) named.add(option.trim().toLowerCase());
  }
  // These belong to the message even if a Connection header names them.
  for (const name of ["content-length", "host"]) named.delete(name);
  return pairs.filter(([name]) => !hopByHop.has(name.toLowerCase()) && !named.has(name.toLowerCase()));
}

/** Returns undefined if the request does not ask for a WebSocket, or has a body. */
export function upgradeHeaders(rawHeaders: readonly string[], url: TargetUrl): string[] | undefined {
  const protocols: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    if (name === "upgrade") protocols.push(rawHeaders[i + 1]!.toLowerCase());
    if (name === "content-length" || name === "transfer-encoding") return undefined;
  }
  if (protocols.join() !== "websocket") return undefined;
  return [...requestHeaders(rawHeaders, url), "Connection", "Upgrade", "Upgrade", "websocket"];
}
