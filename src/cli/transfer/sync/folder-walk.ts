// Walks a folder in key order, with one list of entries per level in memory. Symbolic links are not
// followed, so no file outside the folder is read and no file is read twice.
import type { Dirent } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { compareKeys, type Key } from "../../../model/key.ts";
import { CommandError } from "../../framework/command-error.ts";
import { fileError, systemCode } from "../../framework/failures.ts";
import { isPartialName } from "./folder-names.ts";
import type { SyncOptions } from "./sync.ts";

export type FolderEntry =
  | { readonly kind: "file"; readonly key: Key; readonly path: string }
  /** Skipped with everything below it: not read, written or deleted. */
  | { readonly kind: "passed"; readonly key: Key; readonly why: string }
  | { readonly kind: "failed"; readonly key: Key; readonly error: unknown };

export async function* walkFolder(
  options: Pick<SyncOptions, "folder" | "prefix" | "except">,
): AsyncGenerator<FolderEntry> {
  const { folder, prefix, except } = options;
  let entries: Dirent[];
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    // The folder was deleted since it was listed, or is not created yet.
    if (systemCode(error) === "ENOENT") return;
    yield { kind: "failed", key: prefix.slice(0, -1), error: fileError(error, "read the folder", folder) };
    return;
  }
  const names = entries.map((entry) => ({
    entry,
    order: entry.isDirectory() ? `${entry.name}/` : entry.name,
  }));
  names.sort((a, b) => compareKeys(a.order, b.order));
  for (const { entry } of names) {
    const path = `${folder}/${entry.name}`;
    const key = prefix + entry.name;
    if (isPartialName(entry.name)) continue;
    if (path === except) yield { kind: "passed", key, why: "it is the data directory" };
    else if (entry.name.includes("\ufffd") && !(await isThere(path))) {
      const error = new CommandError(`The name of "${path}" is not UTF-8, so it cannot be a key.`);
      yield { kind: "failed", key, error };
    } else if (entry.isDirectory()) yield* walkFolder({ folder: path, prefix: `${key}/`, except });
    else if (entry.isFile()) yield { kind: "file", key, path };
    else
      yield {
        kind: "passed",
        key,
        why: entry.isSymbolicLink() ? "it is a symbolic link" : "it is not a regular file",
      };
  }
}

/** Whether the path exists. False for a name that is not UTF-8: Node decodes it to another name. */
async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch {
    return false;
  }
}
