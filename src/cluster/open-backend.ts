// Where the bytes of a cluster lie, as people write it: an S3 service or a directory that all machines mount.
//   s3://KEY:SECRET@host:port/bucket/prefix?region=us-east-1&tls=false      file:///mnt/shared/store
import { fileURLToPath } from "node:url";
import { hostText, type S3Place, type S3Times } from "../s3-client/client.ts";
import { parseS3Place } from "../s3-client/url.ts";
import type { Shelf } from "./backend/backend.ts";
import type { Marker } from "./backend/marker.ts";
import type { PieceLimits } from "./backend/s3/pieces.ts";

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
    const { openDirectoryShelf } = await import("./backend/directory/backend.ts");
    return openDirectoryShelf({ directory: location.directory, marker });
  }
  const { createS3Client } = await import("./backend/s3/client.ts");
  const { openS3Shelf } = await import("./backend/s3/backend.ts");
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
  if (url.startsWith("s3:")) return { kind: "s3", place: parseS3Place(url, wrong) };
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
