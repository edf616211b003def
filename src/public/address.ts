// Finds the bucket and key of a request: the bucket is in the host or in the first path segment.
import { decodeTarget, splitTarget } from "../http/target.ts";
import { findBase, isServerName, type ServerNames } from "../model/settings/publication.ts";

export interface Address {
  readonly bucket: string;
  /** Key, percent-decoded exactly once. A key is not a file path, so `..` is valid. */
  readonly key: string;
}

export interface AddressNames {
  readonly server: ServerNames;
  /** Returns the bucket of a domain. */
  readonly findDomain: (name: string) => Promise<string | undefined>;
}

/** Returns undefined if the path is not valid UTF-8 or does not begin with a slash. */
export async function parseAddress(
  host: string,
  target: string,
  names: AddressNames,
): Promise<Address | undefined> {
  const path = decodeTarget(splitTarget(target).rawPath);
  if (path === undefined || !path.startsWith("/")) return undefined;
  const bucket = await findBucketByHost(hostName(host), names);
  if (bucket !== undefined) return { bucket, key: path.slice(1) };
  const slash = path.indexOf("/", 1);
  return slash === -1
    ? { bucket: path.slice(1), key: "" }
    : { bucket: path.slice(1, slash), key: path.slice(slash + 1) };
}

/** The server's own names come first, so that the domain of a bucket never takes one of them. */
async function findBucketByHost(
  name: string,
  { server, findDomain }: AddressNames,
): Promise<string | undefined> {
  const base = findBase(name, server.bases);
  if (base !== undefined) return name.slice(0, -base.length - 1);
  return isServerName(name, server) ? undefined : findDomain(name);
}

function hostName(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "");
}
