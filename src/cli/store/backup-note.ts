// When the last backup of a store ended, as a document of the store: `store backup` writes it, and
// the console shows its age.
import type { Documents } from "../../engine/records.ts";
import { isCount, isFields } from "../../model/shape.ts";

const kind = "housekeeping";
const name = "backup";

export async function readBackupNote(documents: Documents): Promise<{ readonly lastBackup?: number }> {
  const document = await documents.get(kind, name);
  if (document === undefined) return {};
  try {
    const value: unknown = JSON.parse(document.text);
    return isFields(value) && isCount(value.ended) ? { lastBackup: value.ended } : {};
  } catch {
    return {};
  }
}

/** On a conflict, another backup ended at the same time and has written its own note. */
export async function writeBackupNote(documents: Documents, ended: number): Promise<void> {
  const revision = (await documents.get(kind, name))?.revision;
  await documents.put(kind, name, JSON.stringify({ ended }), revision);
}
