// Finds the bucket and key of a request: the bucket is in the host or in the first path segment.
import { decodeTarget, splitTarget } from "../http/target.ts";
import type { PublicBucket } from "./publications.ts";

export interface Address {
  readonly bucket: string;
  /** Key, percent-decoded exactly once. A key is not a file path, so `..` is valid. */
  readonly key: string;
}

export interface AddressNames {
  /** Base domains for virtual-hosted-style requests. */
  readonly domains: readonly string[];
  readonly buckets: readonly PublicBucket[];
}

/** Returns undefined if the path is not valid UTF-8 or does not begin with a slash. */
export function parseAddress(
  host: string,
  target: string,
  { domains, buckets }: AddressNames,
): Address | undefined {
  const path = decodeTarget(splitTarget(target).rawPath);
  if (path === undefined || !path.startsWith("/")) return undefined;
  const bucket = findBucketByHost(hostName(host), domains, buckets);
  if (bucket !== undefined) return { bucket, key: path.slice(1) };
  const slash = path.indexOf("/", 1);
  return slash === -1
    ? { bucket: path.slice(1), key: "" }
    : { bucket: path.slice(1, slash), key: path.slice(slash + 1) };
}

function findBucketByHost(
  name: string,
  domains: readonly string[],
  buckets: readonly PublicBucket[],
): string | undefined {
  const own = buckets.find((one) => one.domains.includes(name));
  if (own !== undefined) return own.bucket;
  const domain = domains.find((one) => name.endsWith(`.${one}`));
  return domain === undefined ? undefined : name.slice(0, -domain.length - 1);
}

function hostName(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "");
}
