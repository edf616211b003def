// Makes directory entries durable: after a power cut, a synced file is lost if the directory that
// contains it was not synced.
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

/** Makes the entries of `directory` and its new ancestors durable, starting at `firstCreated`. */
export function syncAncestors(directory: string, firstCreated = directory): void {
  const parent = dirname(directory);
  if (directory !== firstCreated && parent !== directory) syncAncestors(parent, firstCreated);
  try {
    syncDirectorySync(parent);
  } catch (error) {
    // A parent that this user cannot read was not created here, so it is already durable.
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
