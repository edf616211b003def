// Records the latest successful backup in the data directory, so that operators can see its age.
import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import type { LastBackup } from "../../model/backup.ts";
import { parseLastBackup } from "../../model/last-backup.ts";
import { syncDirectory } from "../disk/fsync-directory.ts";
import { writeWhole } from "./copy-blob.ts";

const fileName = "last-backup.json";

/** Replaces the record in one step. An error is ignored, because the backup itself is complete. */
export async function writeLastBackup(directory: string, last: Omit<LastBackup, "seconds">): Promise<void> {
  const path = join(directory, fileName);
  const partial = `${path}.partial`;
  const record: LastBackup = { ...last, seconds: (Date.now() - last.time) / 1000 };
  try {
    await writeWhole(partial, Buffer.from(`${JSON.stringify(record)}\n`));
    await rename(partial, path);
    await syncDirectory(directory);
  } catch {
    // Operators then see the time of the backup before this one.
  }
}

/** Returns undefined if no backup has succeeded yet, or the file does not contain a valid record. */
export function readLastBackup(directory: string): LastBackup | undefined {
  try {
    return parseLastBackup(readFileSync(join(directory, fileName), "utf8"));
  } catch {
    return undefined;
  }
}
