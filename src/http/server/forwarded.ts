// Who asks, by which name and over what, when a proxy stands in front: it says so in headers, which are believed from
// proxies that were named as such and from nobody else.
import type { IncomingHttpHeaders } from "node:http";
import { BlockList, isIP } from "node:net";
import type { HttpRequest } from "./listen.ts";

export interface TrustedPeers {
  has(address: string): boolean;
}

/** Addresses and networks, such as 10.0.0.7, 10.0.0.0/8 or fd00::/8; throws a RangeError for what is neither. */
export function parseTrustedPeers(texts: readonly string[]): TrustedPeers {
  const list = new BlockList();
  for (const text of texts) {
    const [, address = "", length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
    const family = ipFamily(address);
    if (family === undefined || Number(length ?? 0) > (family === "ipv4" ? 32 : 128)) {
      throw new RangeError(`"${text}" is no address and no network, such as 10.0.0.7 or 10.0.0.0/8.`);
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
/** For a listener that only our own front can reach. */
export const trustAll: TrustedPeers = { has: () => true };

/** What is known of the sender of a request. */
export interface Sender {
  /** Empty when the connection is gone already. */
  readonly address: string;
  readonly scheme: "http" | "https";
  /** What the client wrote as Host, where a proxy has told. */
  readonly host: string | undefined;
}

/** What the nearest hop says, or what is told by proxies that are trusted, back to the first that is not. */
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

/** As told by each proxy, the nearest one last. */
function parseHops(headers: IncomingHttpHeaders): Hop[] {
  const [forwardedFor, proto, host] = ["for", "proto", "host"].map((name) =>
    splitList(headers[`x-forwarded-${name}`]),
  );
  // A proxy sets one kind and may pass on what a client wrote as the other: the kind that most of them set counts.
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

/** `for=192.0.2.60;proto=https;host=example.com` (RFC 7239). */
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

/** Some write a port behind it; what hides its address says nothing. */
function parseAddress(text: string): string | undefined {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/.exec(text) ?? [];
  const address = bracketed ?? plain ?? text;
  return isIP(address) === 0 ? undefined : plainAddress(address);
}

function ipFamily(address: string): "ipv4" | "ipv6" | undefined {
  const version = isIP(address);
  return version === 0 ? undefined : version === 4 ? "ipv4" : "ipv6";
}

/** An address of IPv4 as such, also where a socket of IPv6 has taken it. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

/** By which proxies, and the platforms that scripts were written for, tell of the sender. */
const senderHeaderNames = [
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
  "cf-connecting-ip",
];

/** The headers as they came, with what is known of the sender in place of what anybody might have written. */
export function withSenderHeaders({ rawHeaders, header, address, scheme }: HttpRequest): string[] {
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
