// Parses the URL of an S3 location. The default is TLS, except to a loopback address.
//   s3://KEY:SECRET@host:port/bucket/prefix?region=us-east-1&tls=false
import { isLoopback } from "../http/loopback.ts";
import type { S3Endpoint } from "./client.ts";

const s3UrlPattern = /^s3:\/\/([^/?#]*)@([^@/?#]+)(?:\/([^/?#]*))?(\/[^?#]*)?(?:\?([^#]*))?$/;

/** Creates an error that states the reason but not the URL, which may contain a secret. */
export type ErrorFactory = (why: string) => Error;

export function parseS3Endpoint(url: string, createError: ErrorFactory): S3Endpoint {
  const decode = (text: string, what: string) => decodeComponent(text, what, createError);
  const match = s3UrlPattern.exec(url);
  if (match === null) {
    throw createError(
      '"KEY:SECRET@host" must follow "s3://"; "/", "@", "?" and "#" in a secret are written %2F, %40, %3F and %23',
    );
  }
  const [, user = "", host = "", bucket = "", path = "", query = ""] = match;
  const colon = user.indexOf(":");
  const accessKeyId = decode(colon === -1 ? user : user.slice(0, colon), "the access key");
  const secretAccessKey = colon === -1 ? "" : decode(user.slice(colon + 1), "the secret");
  if (accessKeyId === "") throw createError("there is no access key before the host");
  if (secretAccessKey === "") throw createError('there is no secret after the access key and a ":"');
  if (!/^[\x21-\x7e]+$/.test(accessKeyId))
    throw createError("the access key contains characters that are not allowed");
  const name = decode(bucket, "the bucket");
  if (name === "") throw createError('there is no bucket after the host and a "/"');
  const { region, tls: givenTls } = parseQuery(query, createError);
  const { hostname, port: givenPort } = parseHost(host, createError);
  const tls = givenTls ?? !isLoopback(hostname);
  const prefix = decode(path, "the prefix").replace(/^\/+|\/+$/g, "");
  return {
    accessKeyId,
    secretAccessKey,
    hostname,
    port: givenPort ?? (tls ? 443 : 80),
    tls,
    region,
    bucket: name,
    prefix: prefix === "" ? "" : `${prefix}/`,
  };
}

function parseHost(
  host: string,
  createError: ErrorFactory,
): { readonly hostname: string; readonly port: number | undefined } {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?$/.exec(host);
  if (match === null) throw createError('the host is not valid, or the text after ":" is not a port');
  const [, v6, name, given] = match;
  const port = given === undefined ? undefined : Number(given);
  if (port !== undefined && (port < 1 || port > 65_535)) {
    throw createError("the port must be a number from 1 to 65535");
  }
  return { hostname: v6 ?? name!, port };
}

/** Ceph's gateway accepts any region, and most other services accept us-east-1. */
const defaultRegion = "us-east-1";

interface Settings {
  readonly region: string;
  /** Whether to use TLS; default: yes, except for a loopback address. */
  readonly tls: boolean | undefined;
}

function parseQuery(query: string, createError: ErrorFactory): Settings {
  const settings = new Map<string, string>();
  for (const part of query === "" ? [] : query.split("&")) {
    const [, name = "", value = ""] = /^([^=]*)=?(.*)$/s.exec(part)!;
    if (name !== "region" && name !== "tls")
      throw createError('only "region" and "tls" are allowed after "?"');
    if (settings.has(name)) throw createError(`"${name}" is repeated`);
    settings.set(name, decodeComponent(value, `"${name}"`, createError));
  }
  const { region = defaultRegion, tls } = Object.fromEntries(settings);
  if (tls !== undefined && tls !== "true" && tls !== "false")
    throw createError('"tls" must be "true" or "false"');
  if (!/^[A-Za-z0-9._-]+$/.test(region)) throw createError('"region" is not a valid name');
  return { region, tls: tls === undefined ? undefined : tls === "true" };
}

function decodeComponent(text: string, what: string, createError: ErrorFactory): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw createError(`a "%" in ${what} must be followed by two hex digits, or be written %25`);
  }
}
