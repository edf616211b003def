// What S3 clients give and get back, although nothing here acts on it: the names of storage classes,
// and where a website would redirect the requests for an object.
import type { ChecksumAlgorithm } from "../../model/checksums/checksum.ts";
import { isSendable } from "../../model/metadata.ts";
import type { ObjectRecord, Passthrough, StorageClass } from "../../model/object.ts";
import { S3Error } from "../errors.ts";
import type { S3Request } from "../request.ts";

const classNames: Readonly<Record<StorageClass, string>> = {
  Standard: "STANDARD",
  InfrequentAccess: "STANDARD_IA",
};

/** Classes of AWS. Those that Store does not have are treated as the nearest class. */
const classByName = new Map<string, StorageClass>([
  ["STANDARD", "Standard"],
  ["REDUCED_REDUNDANCY", "Standard"],
  ["STANDARD_IA", "InfrequentAccess"],
  ["ONEZONE_IA", "InfrequentAccess"],
  ["INTELLIGENT_TIERING", "InfrequentAccess"],
  ["GLACIER_IR", "InfrequentAccess"],
  ["GLACIER", "InfrequentAccess"],
  ["DEEP_ARCHIVE", "InfrequentAccess"],
]);

export function formatStorageClass(storageClass: StorageClass): string {
  return classNames[storageClass];
}

/** Returns the name that the client gave, or that of the class. */
export function shownStorageClass(record: Pick<ObjectRecord, "storageClass" | "passthrough">): string {
  return record.passthrough?.get("class") ?? formatStorageClass(record.storageClass);
}

export function parseStorageClass(text: string | undefined): StorageClass | undefined {
  if (text === undefined) return undefined;
  const found = classByName.get(text);
  if (found === undefined) throw new S3Error("InvalidStorageClass");
  return found;
}

const redirectHeader = "x-amz-website-redirect-location";
const maxRedirectLength = 2048;

export function readPassthrough(
  { header }: Pick<S3Request, "header">,
  checksum: ChecksumAlgorithm | undefined,
): Passthrough | undefined {
  const className = header("x-amz-storage-class");
  const storageClass = parseStorageClass(className);
  const redirect = readRedirect(header(redirectHeader));
  const isOther = storageClass !== undefined && className !== formatStorageClass(storageClass);
  const pairs: [string, string][] = [
    ...(isOther ? [["class", className!] as [string, string]] : []),
    ...(redirect === undefined ? [] : [["redirect", redirect] as [string, string]]),
    ...(checksum === "md5" ? [["checksum", "md5"] as [string, string]] : []),
  ];
  return pairs.length === 0 ? undefined : new Map(pairs);
}

function readRedirect(location: string | undefined): string | undefined {
  if (location === undefined) return undefined;
  if (/^(\/|https?:\/\/)/.test(location) && location.length <= maxRedirectLength && isSendable(location))
    return location;
  throw new S3Error("InvalidRedirectLocation");
}

export function redirectHeaders({ passthrough }: Pick<ObjectRecord, "passthrough">): [string, string][] {
  const location = passthrough?.get("redirect");
  return location === undefined ? [] : [[redirectHeader, location]];
}
