// Finds the client of a request that came through proxies. Only configured proxies are trusted.
import type { IncomingHttpHeaders } from "node:http";
import { BlockList, isIP } from "node:net";
import type { HttpRequest } from "./listen.ts";

export interface TrustedPeers {
  has(address: string): boolean;
}

/** Parses addresses and networks such as 10.0.0.7 or fd00::/8; throws a RangeError. */
export function parseTrustedPeers(texts: readonly string[]): TrustedPeers {
  const list = new BlockList();
  for (const text of texts) {
    const [, address = "", length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
    const family = ipFamily(address);
    if (family === undefined || Number(length ?? 0) > (family === "ipv4" ? 32 : 128)) {
      throw new RangeError(`"${text}" is not an address or a network. Use the form 10.0.0.7 or 10.0.0.0/8.`);
    }
    if (length === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(length), family);
  }
  return {
    has(address) {
      const family = ipFamily(address);
      return family !== undefined && list.check(address, family);
    },
  };
}

export const trustNone: TrustedPeers = { has: () => false };
/** For a listener that only the server's own supervisor can reach. */
export const trustAll: TrustedPeers = { has: () => true };

/** The client that sent a request. */
export interface Sender {
  /** IP address; empty if the connection is already closed. */
  readonly address: string;
  readonly scheme: "http" | "https";
  /** The Host header of the client's request, if a proxy reports it. */
  readonly host: string | undefined;
}

/** Follows the chain of trusted proxies back to the first address that is not trusted. */
export function resolveSender(peer: Sender, headers: IncomingHttpHeaders, trusted: TrustedPeers): Sender {
  if (!trusted.has(peer.address)) return peer;
  const hops = parseHops(headers);
  let sender = peer;
  for (let i = hops.length - 1; i >= 0; i--) {
    const { address, scheme, host } = hops[i]!;
    sender = {
      address: address ?? sender.address,
      scheme: scheme ?? sender.scheme,
      host: host ?? sender.host,
    };
    if (address === undefined || !trusted.has(address)) break;
  }
  return sender;
}

type Hop = { readonly [Name in keyof Sender]: Sender[Name] | undefined };

/** Returns one hop for each proxy; the nearest proxy is last. */
function parseHops(headers: IncomingHttpHeaders): Hop[] {
  const [forwardedFor, proto, host] = ["for", "proto", "host"].map((name) =>
    splitList(headers[`x-forwarded-${name}`]),
  );
  // A proxy sets Forwarded or X-Forwarded-*; the other kind may come from the client. Most proxies
  // set X-Forwarded-*, so these headers take precedence.
  if (forwardedFor!.length + proto!.length + host!.length === 0)
    return forwardedHops(splitList(headers.forwarded));
  const nearest = { scheme: parseScheme(proto!.at(-1)), host: host!.at(-1) };
  if (forwardedFor!.length === 0) return [{ address: undefined, ...nearest }];
  return forwardedFor!.map((text) => ({ address: parseAddress(text), ...nearest }));
}

function splitList(value: string | string[] | undefined): string[] {
  if (value === undefined) return [];
  const text = typeof value === "string" ? value : value.join(",");
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** Parses elements such as `for=192.0.2.60;proto=https;host=example.com` (RFC 7239). */
function forwardedHops(elements: readonly string[]): Hop[] {
  return elements.map((element) => {
    const pairs = element.split(";").map((pair) => {
      const [name = "", value = ""] = pair.split(/=(.*)/s);
      return [name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/s, "$1")] as const;
    });
    const fields = new Map(pairs);
    const address = fields.get("for");
    return {
      address: address === undefined ? undefined : parseAddress(address),
      scheme: parseScheme(fields.get("proto")),
      host: fields.get("host"),
    };
  });
}

function parseScheme(text: string | undefined): Sender["scheme"] | undefined {
  const scheme = text?.toLowerCase();
  return scheme === "http" || scheme === "https" ? scheme : undefined;
}

/** Parses an address and removes a port. Ignores obfuscated identifiers. */
function parseAddress(text: string): string | undefined {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/.exec(text) ?? [];
  const address = bracketed ?? plain ?? text;
  return isIP(address) === 0 ? undefined : plainAddress(address);
}

function ipFamily(address: string): "ipv4" | "ipv6" | undefined {
  const version = isIP(address);
  return version === 0 ? undefined : version === 4 ? "ipv4" : "ipv6";
}

/** Converts an IPv4-mapped IPv6 address to IPv4. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

/** Headers by which proxies and the platforms of scripts describe the client. */
const senderHeaderNames = [
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
  "cf-connecting-ip",
];

/** Returns the headers; headers about the sender are replaced by the values this server knows. */
export function withSenderHeaders({
  rawHeaders,
  header,
  address,
  scheme,
}: Pick<HttpRequest, "rawHeaders" | "header" | "address" | "scheme">): string[] {
  const hasSenderHeaders = senderHeaderNames.some((name) => header(name) !== undefined);
  const headers = hasSenderHeaders ? withoutSenderHeaders(rawHeaders) : rawHeaders.slice();
  const clientAddress = address();
  if (clientAddress !== "")
    headers.push(
      "cf-connecting-ip",
      clientAddress,
      "x-real-ip",
      clientAddress,
      "x-forwarded-for",
      clientAddress,
    );
  headers.push("x-forwarded-proto", scheme);
  return headers;
}

function withoutSenderHeaders(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, i) => !senderHeaderNames.includes(rawHeaders[i - (i % 2)]!.toLowerCase()));
}
