// The location of a store: a data directory, memory, or the two URLs of a cluster. It is plain
// data, so that it can be sent to other processes. Texts for people never contain a password.
import { isCount, isFields, isText } from "../shape.ts";

export type Location = string | ClusterLocation;

export interface ClusterLocation {
  /** Database of the records: `postgres://user:password@host1,host2/database` */
  readonly records: string;
  /** Storage of the bytes: `s3://key:secret@host:port/bucket`, or `file:///shared/folder`. */
  readonly blobs: string;
  /** "strict": every read verifies that its server is the primary. Default: "usual". */
  readonly reads?: Reads;
  /** Maximum number of database connections. */
  readonly pool?: number;
  /** Cache of bodies on a disk of this machine. Default: none. */
  readonly cache?: BodyCacheLocation | undefined;
}

export interface BodyCacheLocation {
  /** Absolute path of a folder, which all processes of a machine share. */
  readonly directory: string;
  /** Maximum bytes of the cached files. */
  readonly size: number;
}

/** Below this, a cache could not hold a few bodies in each of its subfolders. */
export const minCacheBytes = 1024 ** 3;

export const readsChoices = ["usual", "strict"] as const;
export type Reads = (typeof readsChoices)[number];

const clusterFields: Readonly<Record<keyof ClusterLocation, true>> = {
  ...{ records: true, blobs: true, reads: true, pool: true, cache: true },
};

const forms =
  'a directory, "memory:", or { records: "postgres://…", blobs: "s3://…" }, where blobs may be "file:///…" too';

/** Checks a location. Errors do not include the value, which may contain a password. */
export function checkLocation(value: unknown): Location {
  if (typeof value === "string") {
    if (value === "") throw new TypeError(`openStore needs ${forms}.`);
    if (/^(postgres(ql)?|s3):/i.test(value)) {
      throw new TypeError(
        'openStore needs both URLs of a cluster: { records: "postgres://…", blobs: "s3://…" or "file:///…" }.',
      );
    }
    const scheme = value === "memory:" ? undefined : parseScheme(value);
    if (scheme === undefined) return value;
    throw new TypeError(
      `openStore does not know "${scheme}": it needs ${forms}. A directory of such a name begins with "./".`,
    );
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TypeError(`openStore needs ${forms}.`);
  }
  return checkCluster(value as Readonly<Record<string, unknown>>);
}

function checkCluster(given: Readonly<Record<string, unknown>>): ClusterLocation {
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(clusterFields, name)) continue;
    throw new TypeError(
      `openStore does not know the field "${name}": the fields are ${Object.keys(clusterFields).join(", ")}.`,
    );
  }
  const { records, blobs, reads, pool, cache } = given;
  for (const [name, url, findFault] of [
    ["records", records, recordsFault],
    ["blobs", blobs, blobsFault],
  ] as const) {
    if (url === undefined) throw new TypeError(`openStore needs "${name}" too: ${urlForms[name]}.`);
    const fault = typeof url === "string" ? findFault(url) : "must be a string";
    if (fault !== undefined) throw new TypeError(`"${name}" ${fault}: it is ${urlForms[name]}.`);
  }
  if (reads !== undefined && !readsChoices.some((choice) => choice === reads)) {
    throw new TypeError('"reads" must be "usual" or "strict".');
  }
  if (pool !== undefined && !(Number.isSafeInteger(pool) && (pool as number) > 0)) {
    throw new TypeError('"pool" must be a whole number of connections from 1.');
  }
  if (cache !== undefined) checkCache(cache);
  return given as unknown as ClusterLocation;
}

function checkCache(cache: unknown): void {
  if (!isFields(cache)) throw new TypeError('"cache" must be { directory: "/folder", size: bytes }.');
  const unknown = Object.keys(cache).find((name) => name !== "directory" && name !== "size");
  if (unknown !== undefined) {
    throw new TypeError(`openStore does not know the field "cache.${unknown}": it has directory and size.`);
  }
  const fault = cacheDirectoryFault(cache.directory) ?? cacheSizeFault(cache.size);
  if (fault !== undefined) throw new TypeError(`"cache.${fault}.`);
}

const maxPath = 4096;

/** Describes the fault as the rest of a sentence after the name of the table and a dot. */
export function cacheDirectoryFault(directory: unknown): string | undefined {
  const isPath = isText(directory, maxPath) && directory.startsWith("/") && !directory.includes("\0");
  return isPath ? undefined : 'directory" must be the absolute path of a folder on a local disk';
}

export function cacheSizeFault(size: unknown): string | undefined {
  return isCount(size) && size >= minCacheBytes ? undefined : 'size" must be at least 1 GiB';
}

export const urlForms = {
  records: "postgres://user:password@host/database",
  blobs: "s3://key:secret@host:port/bucket or file:///folder",
} as const;

/** Describes the fault of a records URL as the end of a sentence, without the URL itself. */
export function recordsFault(url: string): string | undefined {
  if (!/^postgres(ql)?:\/\//i.test(url)) return "must begin with postgres://";
  return /^[a-z]+:\/\/[^?#]*[^/?#]/i.test(url) ? undefined : "names no host";
}

/** Describes the fault of a blobs URL as the end of a sentence, without the URL itself. */
export function blobsFault(url: string): string | undefined {
  if (/^file:/i.test(url)) {
    return /^file:\/\/\/+[^/]/i.test(url)
      ? undefined
      : "must have three slashes and a folder: file:///folder";
  }
  if (!/^s3:\/\//i.test(url)) return "must begin with s3:// or file:///";
  if (!/^s3:\/\/[^/]*@/i.test(url)) return "has no key and secret in it";
  return /@[^/@]+\/[^/]+/.test(url) ? undefined : "names no host with a bucket";
}

/** Returns the scheme in lower case, with its colon. A single letter is a drive, not a scheme. */
export function parseScheme(text: string): string | undefined {
  return /^[a-z][a-z0-9+.-]{1,30}:/i.exec(text)?.[0].toLowerCase();
}

/** Formats the location for people, without passwords. The text also identifies the store. */
export function formatLocation(location: Location): string {
  if (typeof location === "string") return location;
  return `${redactUrl(location.records)} and ${redactUrl(location.blobs)}`;
}

/** Returns only scheme, hosts and path, which are safe to show. */
export function redactUrl(url: string): string {
  const [, scheme = "", rest = ""] = /^([a-z0-9+]+:\/\/)(.*)$/is.exec(url) ?? [];
  if (/^file:/i.test(scheme)) return url;
  const bare = rest.slice(rest.lastIndexOf("@") + 1).replace(/[?#].*$/s, "");
  return /^[\w.,[\]:-]*(\/[\w./~%-]*)?$/.test(bare) && isHosts(bare) ? `${scheme}${bare}` : `${scheme}…`;
}

/** Whether the text is a list of hosts and ports. `user:password` without a host looks similar. */
function isHosts(bare: string): boolean {
  const [hosts = ""] = bare.split("/");
  return hosts.split(",").every((host) => /^(\[[0-9a-f:.]*\]|[\w.-]*)(:\d{1,5})?$/i.test(host));
}

/** Placeholders in Store's own messages, which are not passwords. */
const examples = ["user:password", "key:secret"];

/** Masks possible passwords in a text. The length stays the same, so that columns stay aligned. */
export function withoutPasswords(text: string): string {
  const lines = text.split("\n").map((line) => {
    const scheme = urlScheme.exec(line);
    const start = scheme === null ? 0 : scheme.index + scheme[0].length;
    const end = line.lastIndexOf("@");
    if (scheme === null || end <= start || examples.includes(line.slice(start, end))) return line;
    return line.slice(0, start) + dots(line.slice(start, end)) + line.slice(end);
  });
  return lines
    .join("\n")
    .replaceAll(
      /((?:password|secret)=)([^&\s"']+)/gi,
      (_, name: string, secret: string) => name + dots(secret),
    );
}

/**
 * Matches the scheme of a URL that may contain a password; a web address without a password does
 * not match. The length limit avoids quadratic time on long lines.
 */
const urlScheme = /(?:\b(?!https?:)[a-z][a-z0-9+.-]{0,20}:|\bhttps?:(?=\/\/[^\s/@:]*:[^\s/@]*@))\/\//i;

/** Longer lines are not searched for fields: no line with a location is this long. */
const maxLineLength = 4096;
const urlFieldStart = /\b(?:records|blobs)["']?\s*[=:]\s*("""|'''|"|'|)/g;

/** Masks the URLs in a line of a configuration, unless they cannot contain a password. */
export function redactConfigLine(line: string): string {
  let shown = withoutPasswords(line);
  if (line.length > maxLineLength) return shown;
  for (const { index, 0: key, 1: quote = "" } of shown.matchAll(urlFieldStart)) {
    const start = index + key.length;
    const length = quote === "" ? shown.slice(start).search(/[\s,}]|$/) : shown.slice(start).indexOf(quote);
    const end = length === -1 ? shown.length : start + length;
    const url = shown.slice(start, end);
    const isSafe = url.includes("•") || redactUrl(url) === url;
    if (!isSafe) shown = shown.slice(0, start) + dots(url) + shown.slice(end);
  }
  return shown;
}

function dots(secret: string): string {
  return "•".repeat(secret.length);
}
