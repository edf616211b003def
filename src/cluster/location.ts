// Where the bytes of a cluster lie, as people write it: an S3 service or a directory that all machines mount.
//   s3://KEY:SECRET@host:port/bucket/prefix?region=us-east-1&tls=true      file:///mnt/shared/store
import { fileURLToPath } from "node:url";
import type { PieceLimits } from "./s3-pieces.ts";
import { hostText, type S3Place, type S3Times } from "./s3-wire.ts";
import type { Shelf } from "./shelf.ts";
import type { Marker } from "./shelf-marker.ts";

export interface OpenShelfOptions {
  /** Whether a place that was never used may become a shelf. */
  readonly marker?: Marker;
  readonly times?: Partial<S3Times>;
  readonly pieces?: PieceLimits;
}

export type ShelfLocation =
  | { readonly kind: "s3"; readonly place: S3Place }
  | { readonly kind: "directory"; readonly directory: string };

export async function openShelf(url: string, options: OpenShelfOptions = {}): Promise<Shelf> {
  const location = parseLocation(url);
  const { marker = "expect", times, pieces } = options;
  if (location.kind === "directory") {
    const { openDirectoryShelf } = await import("./directory-shelf.ts");
    return openDirectoryShelf({ directory: location.directory, marker });
  }
  const { createS3Client } = await import("./s3-client.ts");
  const { openS3Shelf } = await import("./s3-shelf.ts");
  const client = createS3Client(location.place, times);
  try {
    return await openS3Shelf({ client, where: described(url), marker, pieces });
  } catch (error) {
    client.close();
    throw error;
  }
}

/** The form that may be shown: without the keys. Of what cannot be read, nothing is shown. */
export function described(url: string): string {
  try {
    const location = parseLocation(url);
    if (location.kind === "directory") return `file://${location.directory}`;
    const { place } = location;
    return `s3://${hostText(place)}/${place.bucket}${place.prefix === "" ? "" : `/${place.prefix.slice(0, -1)}`}`;
  } catch {
    return "a location that cannot be read";
  }
}

/** Throws a TypeError that says what is wrong; what was given is not repeated, since it may hold a secret. */
export function parseLocation(url: string): ShelfLocation {
  if (typeof url !== "string" || url === "") throw wrong("nothing was given");
  if (url.startsWith("file:")) return { kind: "directory", directory: parseDirectory(url) };
  if (url.startsWith("s3:")) return { kind: "s3", place: parseS3(url) };
  throw wrong('it begins with neither "s3://" nor "file:///"');
}

const forms = '"s3://KEY:SECRET@host:port/bucket" or "file:///directory"';

function wrong(why: string): TypeError {
  return new TypeError(`The place of the bytes must be ${forms}: ${why}.`);
}

function parseDirectory(url: string): string {
  if (!/^file:\/\/\/[^/]/.test(url)) throw wrong('a directory is given as "file:///" and its whole path');
  if (/[?#]/.test(url)) throw wrong('"?" and "#" in the path of a directory are written %3F and %23');
  try {
    const path = fileURLToPath(url);
    return path.length > 1 ? path.replace(/\/+$/, "") : path;
  } catch {
    throw wrong("the path of the directory is not percent-encoded as it should be");
  }
}

const s3Form = /^s3:\/\/([^/?#]*)@([^@/?#]+)(?:\/([^/?#]*))?(\/[^?#]*)?(?:\?([^#]*))?$/;

function parseS3(url: string): S3Place {
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
  const { region, tls } = parseQuery(query);
  const prefix = decoded(path, "the prefix").replace(/^\/+|\/+$/g, "");
  return {
    accessKeyId,
    secretAccessKey,
    ...parseHost(host, tls),
    tls,
    region,
    bucket: name,
    prefix: prefix === "" ? "" : `${prefix}/`,
  };
}

function parseHost(host: string, tls: boolean): { readonly hostname: string; readonly port: number } {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?$/.exec(host);
  if (match === null) throw wrong('the host is not one, or what follows it after ":" is no port');
  const [, v6, name, given] = match;
  const port = given === undefined ? (tls ? 443 : 80) : Number(given);
  if (port < 1 || port > 65_535) throw wrong("the port must be a number from 1 to 65535");
  return { hostname: v6 ?? name!, port };
}

/** Radosgw takes any region, and most others this one. */
const usualRegion = "us-east-1";

function parseQuery(query: string): { readonly region: string; readonly tls: boolean } {
  const settings = new Map<string, string>();
  for (const part of query === "" ? [] : query.split("&")) {
    const [, name = "", value = ""] = /^([^=]*)=?(.*)$/s.exec(part)!;
    if (name !== "region" && name !== "tls") throw wrong('behind "?" only "region" and "tls" may stand');
    if (settings.has(name)) throw wrong(`"${name}" stands there twice`);
    settings.set(name, decoded(value, `"${name}"`));
  }
  const { region = usualRegion, tls = "false" } = Object.fromEntries(settings);
  if (tls !== "true" && tls !== "false") throw wrong('"tls" must be "true" or "false"');
  if (!/^[A-Za-z0-9._-]+$/.test(region)) throw wrong('"region" is not the name of one');
  return { region, tls: tls === "true" };
}

function decoded(text: string, what: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrong(`a "%" in ${what} must be followed by two hex digits, or be written %25`);
  }
}
