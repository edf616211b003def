// Parses the two sides of a sync: a folder starts with . or /, a bucket does not.
import { mkdir, realpath, stat } from "node:fs/promises";
import { isAbsolute, relative, resolve } from "node:path";
import type { Location } from "../../model/location.ts";
import type { Invocation } from "../framework/command.ts";
import { CommandError, usageError } from "../framework/command-error.ts";
import { fileError, systemCode } from "../framework/failures.ts";
import { prefixAddress } from "../store/object-address.ts";

export interface SyncEndpoints {
  readonly to: "bucket" | "folder";
  /** The folder as typed by the user. */
  readonly folder: string;
  readonly bucket: string;
  readonly prefix: string;
}

/** A folder starts with a dot or a slash, which a bucket name never does. */
export function parseSyncEndpoints(parameters: readonly string[]): SyncEndpoints {
  const [from = "", to = ""] = parameters;
  const isFolder = (text: string) => text.startsWith(".") || isAbsolute(text);
  // `prefixAddress` throws for a URL, which is neither a folder nor a bucket.
  for (const side of [from, to]) if (!isFolder(side)) prefixAddress(side);
  if (isFolder(from) === isFolder(to)) {
    const what = isFolder(from) ? "Both sides are folders" : `Neither "${from}" nor "${to}" is a folder`;
    throw usageError(`${what}: one side must be a folder and the other a bucket.`, [
      "A folder starts with ./ or /, a bucket does not.",
      "For example: store sync ./pictures photos/2026",
    ]);
  }
  const [folder, address] = isFolder(from) ? [from, to] : [to, from];
  const { bucket, prefix } = prefixAddress(address);
  return {
    to: isFolder(from) ? "bucket" : "folder",
    folder,
    bucket,
    prefix: prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`,
  };
}

export interface FolderOptions {
  readonly absent: "refuse" | "create" | "pretend";
  readonly location: Location;
}

/** Resolves the folder and the data directory. Refuses a folder inside the data directory. */
export async function realFolder(
  { directory }: Invocation,
  folder: string,
  { absent, location }: FolderOptions,
): Promise<{ readonly folder: string; readonly except: string | undefined }> {
  const path = resolve(directory, folder);
  const except =
    typeof location === "string" && location !== "memory:" ? await realpath(location) : undefined;
  const real = await resolveFolder(path, absent).catch((error: unknown) => {
    throw fileError(error, absent === "create" ? "create the folder" : "read the folder", folder);
  });
  if (except !== undefined && !relative(except, real).startsWith("..")) {
    throw new CommandError(`"${folder}" is inside the data directory; choose another folder.`);
  }
  return { folder: real, except };
}

async function resolveFolder(path: string, absent: FolderOptions["absent"]): Promise<string> {
  if (absent === "create") await mkdir(path, { recursive: true });
  try {
    if (!(await stat(path)).isDirectory()) throw new CommandError(`"${path}" is not a folder.`);
    return await realpath(path);
  } catch (error) {
    if (absent === "pretend" && systemCode(error) === "ENOENT") return path;
    throw error;
  }
}
