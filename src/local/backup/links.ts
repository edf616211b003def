// Refuses symbolic links inside a backup: a link could redirect reads and writes.
import { lstatSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { BackupError } from "../../model/backup.ts";

/** Throws if the path, or a folder between root and path, is a link. A missing path is accepted. */
export function createLinkCheck(root: string): (path: string) => void {
  const folders = new Set<string>();
  return (path) => {
    let at = root;
    for (const name of relative(root, path).split(sep)) {
      at = join(at, name);
      if (folders.has(at)) continue;
      const found = lstatSync(at, { throwIfNoEntry: false });
      if (found === undefined) return;
      if (found.isDirectory()) folders.add(at);
      else if (!found.isFile() || at !== path) throw notPlainError(at);
    }
  };
}

function notPlainError(path: string): BackupError {
  return new BackupError(`The backup is not valid: "${path}" is not a plain file or folder.`, [
    "Store creates no links inside a backup. If you created it, replace the link with what it points to.",
  ]);
}
