// Opens the blob backend of a URL, an S3 service or a directory that all machines mount:
//   s3://KEY:SECRET@host:port/bucket/prefix?region=us-east-1&tls=false
//   file:///mnt/shared/store
import { fileURLToPath } from "node:url";
import { formatHost, type S3Endpoint, type S3Times } from "../s3-client/client.ts";
import { parseS3Endpoint } from "../s3-client/url.ts";
import type { BlobBackend } from "./backend/backend.ts";
import type { MarkerMode } from "./backend/marker.ts";
import type { PieceLimits } from "./backend/s3/piece-buffer-pool.ts";

export interface OpenBackendOptions {
  /** "make" sets up a location that was never used. Default: "expect". */
  readonly marker?: MarkerMode;
  readonly times?: Partial<S3Times>;
  readonly pieces?: PieceLimits;
}

export type BackendLocation =
  | { readonly kind: "s3"; readonly endpoint: S3Endpoint }
  | { readonly kind: "directory"; readonly directory: string };

export async function openBlobBackend(url: string, options: OpenBackendOptions = {}): Promise<BlobBackend> {
  const location = parseLocation(url);
  const { marker = "expect", times, pieces } = options;
  if (location.kind === "directory") {
    const { openDirectoryBackend } = await import("./backend/directory/backend.ts");
    return openDirectoryBackend({ directory: location.directory, marker });
  }
  const { createS3Client } = await import("./backend/s3/client.ts");
  const { openS3Backend } = await import("./backend/s3/backend.ts");
  const client = createS3Client(location.endpoint, times);
  try {
    return await openS3Backend({ client, where: describeLocation(url), marker, pieces });
  } catch (error) {
    client.close();
    throw error;
  }
}

/** Returns the location without its secrets. An invalid URL is not shown at all. */
export function describeLocation(url: string): string {
  try {
    const location = parseLocation(url);
    if (location.kind === "directory") return `file://${location.directory}`;
    const { endpoint } = location;
    return `s3://${formatHost(endpoint)}/${endpoint.bucket}${endpoint.prefix === "" ? "" : `/${endpoint.prefix.slice(0, -1)}`}`;
  } catch {
    return "a location that is not valid";
  }
}

/** Throws a TypeError that states the fault, without the URL, which may contain a secret. */
export function parseLocation(url: string): BackendLocation {
  if (typeof url !== "string" || url === "") throw locationError("nothing was given");
  if (url.startsWith("file:")) return { kind: "directory", directory: parseDirectory(url) };
  if (url.startsWith("s3:")) return { kind: "s3", endpoint: parseS3Endpoint(url, locationError) };
  throw locationError('it begins with neither "s3://" nor "file:///"');
}

const forms = '"s3://KEY:SECRET@host:port/bucket" or "file:///directory"';

function locationError(why: string): TypeError {
  return new TypeError(`The URL of the blob backend must be ${forms}: ${why}.`);
}

function parseDirectory(url: string): string {
  if (!/^file:\/\/\/[^/]/.test(url))
    throw locationError('a directory is written as "file:///" and its absolute path');
  if (/[?#]/.test(url)) throw locationError('"?" and "#" in the path of a directory are written %3F and %23');
  try {
    const path = fileURLToPath(url);
    return path.length > 1 ? path.replace(/\/+$/, "") : path;
  } catch {
    throw locationError("the path of the directory is not validly percent-encoded");
  }
}
