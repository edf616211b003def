// Makes directory entries durable. A file that was synced is still lost in a power cut when the directory
// that names it was not.
import { closeSync, fsync, fsyncSync, openSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";

const fsyncDescriptor = promisify(fsync);

export function syncDirectorySync(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Syncs the names of the folder and of all that were made above it, down from the first. */
export function syncAncestors(directory: string, firstCreated = directory): void {
  const parent = dirname(directory);
  if (directory !== firstCreated && parent !== directory) syncAncestors(parent, firstCreated);
  try {
    syncDirectorySync(parent);
  } catch (error) {
    // A parent that may be passed through and not read was made by somebody else, long before.
    if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
  }
}

export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await fsyncDescriptor(directory.fd);
  } finally {
    await directory.close();
  }
}
