// Makes directory entries durable. A synced file is still lost in a power cut if the directory that
// names it was not synced.
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

/** Makes the entries of `directory` and its new ancestors durable, from `firstCreated` down. */
export function syncAncestors(directory: string, firstCreated = directory): void {
  const parent = dirname(directory);
  if (directory !== firstCreated && parent !== directory) syncAncestors(parent, firstCreated);
  try {
    syncDirectorySync(parent);
  } catch (error) {
    // A parent that this user cannot read was not created here, so it is durable already.
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
