// Settings of a public bucket: folder index, page for missing keys, browser caching, and host names
// of its own.
import { checkKey } from "../key.ts";
import { isSendable } from "../metadata.ts";

export interface Publication {
  /** Name of the object that is served for a folder, such as "index.html". */
  readonly index?: string | undefined;
  /** Key of the object that is served for a missing key. */
  readonly notFound?: string | undefined;
  /** Default Cache-Control header, for objects without this metadata. */
  readonly cacheControl?: string | undefined;
  /** Host names that serve only this bucket. */
  readonly domains?: readonly string[] | undefined;
}

/** Host names of the server itself, which no bucket can have. */
export interface ServerNames {
  /** Names under which the server or one of its ports is reached. */
  readonly names: readonly string[];
  /** Base domains: names below one belong to the buckets that they begin with. */
  readonly bases: readonly string[];
}

/** The names that every server has. */
export const commonServerNames: ServerNames = { names: [], bases: ["localhost"] };

export const maxDomains = 100;
const domainShape =
  /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** Browsers take a name for an IP address if its last label is a number. */
const numericEnd = /(^|\.)(\d+|0x[0-9a-f]*)$/;

/** Returns what is wrong with the publication. Undefined: nothing. */
export function publicationFlaw(
  { index, notFound, cacheControl, domains = [] }: Publication,
  server: ServerNames,
): string | undefined {
  if (index !== undefined && (index === "" || index.includes("/")))
    return `Index document "${index}" is not valid: specify a file name without "/", such as index.html.`;
  if (notFound !== undefined) checkKey(notFound);
  if (cacheControl !== undefined && (!isSendable(cacheControl) || !/^[\x20-\x7e]+$/.test(cacheControl)))
    return "Cache-Control is not valid: use printable ASCII characters only.";
  if (domains.length > maxDomains) return `A bucket has at most ${maxDomains} domains.`;
  for (const domain of domains) {
    if (!isDomain(domain))
      return `"${domain}" is not a host name: write it in lowercase, such as files.example.com.`;
    if (isServerName(domain, server))
      return `"${domain}" is a name of this server, or below one of its base domains: choose another.`;
  }
  return undefined;
}

/** Whether a bucket could have the name as its domain. */
export function isDomain(name: string): boolean {
  return domainShape.test(name) && !numericEnd.test(name);
}

/** Whether the name is one of the server's, or the virtual-hosted-style name of a bucket. */
export function isServerName(name: string, { names, bases }: ServerNames): boolean {
  return names.includes(name) || bases.includes(name) || findBase(name, bases) !== undefined;
}

/** Returns the base domain that the name is below. */
export function findBase(name: string, bases: readonly string[]): string | undefined {
  return bases.find((base) => name.endsWith(`.${base}`));
}
