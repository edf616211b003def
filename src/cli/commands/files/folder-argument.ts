// Checks the folder of a sync or an import.
import { mkdir, realpath, stat } from "node:fs/promises";
import { relative, resolve } from "node:path";
import type { Invocation } from "../../framework/command.ts";
import { CommandError } from "../../framework/command-error.ts";
import { fileError, systemCode } from "../../framework/failures.ts";

export interface FolderOptions {
  readonly absent: "refuse" | "create" | "pretend";
  /** The data directory, if the files of a store are used. */
  readonly except: string | undefined;
}

/** Resolves the folder. Refuses a folder inside the data directory. */
export async function realFolder(
  { directory }: Invocation,
  folder: string,
  { absent, except }: FolderOptions,
): Promise<string> {
  const path = resolve(directory, folder);
  const real = await resolveFolder(path, absent).catch((error: unknown) => {
    throw fileError(error, absent === "create" ? "create the folder" : "read the folder", folder);
  });
  if (except !== undefined && !relative(except, real).startsWith("..")) {
    throw new CommandError(`"${folder}" is inside the data directory; choose another folder.`);
  }
  return real;
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
