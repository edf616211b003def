// Paths that are never served, even inside the assets directory: the store's data and files with
// secrets.
import { realpath } from "node:fs/promises";
import { basename, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Location } from "../../model/names/location.ts";

export interface PrivatePaths {
  /** Absolute path; undefined when the store has no directory on this machine. */
  readonly dataDirectory: string | undefined;
  /** Whether a path is private. `path` must be absolute and without symbolic links. */
  has(path: string): boolean;
}

const secretFiles = /^\.(env|dev\.vars)(\..*)?$/;

export async function findPrivatePaths(location: Location): Promise<PrivatePaths> {
  const dataDirectory = await findDataDirectory(location);
  return {
    dataDirectory,
    has(path) {
      if (dataDirectory !== undefined && isWithin(path, dataDirectory)) return true;
      return secretFiles.test(basename(path));
    },
  };
}

export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

async function findDataDirectory(location: Location): Promise<string | undefined> {
  const blobLocation = typeof location === "string" ? location : location.blobs;
  if (blobLocation === "memory:" || /^s3:/i.test(blobLocation)) return undefined;
  const directory = blobLocation.startsWith("file:") ? fileURLToPath(blobLocation) : blobLocation;
  return realpath(directory).catch(() => undefined);
}
