// Where an S3 service is, as people write it: s3://KEY:SECRET@host:port/bucket/prefix?region=us-east-1&tls=false
// Connections use TLS; by default those to a loopback address do not.
import { isLoopback } from "../http/loopback.ts";
import type { S3Place } from "./client.ts";

const s3Form = /^s3:\/\/([^/?#]*)@([^@/?#]+)(?:\/([^/?#]*))?(\/[^?#]*)?(?:\?([^#]*))?$/;

/** An error that says why it cannot be read; what was given is not repeated, since it may hold a secret. */
export type Wrong = (why: string) => Error;

export function parseS3Place(url: string, wrong: Wrong): S3Place {
  const decoded = (text: string, what: string) => decodedText(text, what, wrong);
  const match = s3Form.exec(url);
  if (match === null) {
    throw wrong(
      '"KEY:SECRET@host" must follow "s3://"; "/", "@", "?" and "#" in a secret are written %2F, %40, %3F and %23',
    );
  }
  const [, user = "", host = "", bucket = "", path = "", query = ""] = match;
  const colon = user.indexOf(":");
  const accessKeyId = decoded(colon === -1 ? user : user.slice(0, colon), "the access key");
  const secretAccessKey = colon === -1 ? "" : decoded(user.slice(colon + 1), "the secret");
  if (accessKeyId === "") throw wrong("there is no access key before the host");
  if (secretAccessKey === "") throw wrong('there is no secret behind the access key, after a ":"');
  if (!/^[\x21-\x7e]+$/.test(accessKeyId)) throw wrong("the access key holds letters that no access key has");
  const name = decoded(bucket, "the bucket");
  if (name === "") throw wrong('there is no bucket behind the host, after a "/"');
  const { region, tls: givenTls } = parseQuery(query, wrong);
  const { hostname, port: givenPort } = parseHost(host, wrong);
  const tls = givenTls ?? !isLoopback(hostname);
  const prefix = decoded(path, "the prefix").replace(/^\/+|\/+$/g, "");
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
  wrong: Wrong,
): { readonly hostname: string; readonly port: number | undefined } {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?$/.exec(host);
  if (match === null) throw wrong('the host is not one, or what follows it after ":" is no port');
  const [, v6, name, given] = match;
  const port = given === undefined ? undefined : Number(given);
  if (port !== undefined && (port < 1 || port > 65_535)) {
    throw wrong("the port must be a number from 1 to 65535");
  }
  return { hostname: v6 ?? name!, port };
}

/** Radosgw takes any region, and most others this one. */
const usualRegion = "us-east-1";

interface Settings {
  readonly region: string;
  /** Undefined: TLS, except to a loopback address. */
  readonly tls: boolean | undefined;
}

function parseQuery(query: string, wrong: Wrong): Settings {
  const settings = new Map<string, string>();
  for (const part of query === "" ? [] : query.split("&")) {
    const [, name = "", value = ""] = /^([^=]*)=?(.*)$/s.exec(part)!;
    if (name !== "region" && name !== "tls") throw wrong('behind "?" only "region" and "tls" may stand');
    if (settings.has(name)) throw wrong(`"${name}" stands there twice`);
    settings.set(name, decodedText(value, `"${name}"`, wrong));
  }
  const { region = usualRegion, tls } = Object.fromEntries(settings);
  if (tls !== undefined && tls !== "true" && tls !== "false") throw wrong('"tls" must be "true" or "false"');
  if (!/^[A-Za-z0-9._-]+$/.test(region)) throw wrong('"region" is not the name of one');
  return { region, tls: tls === undefined ? undefined : tls === "true" };
}

function decodedText(text: string, what: string, wrong: Wrong): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrong(`a "%" in ${what} must be followed by two hex digits, or be written %25`);
  }
}
