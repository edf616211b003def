// Remembers the latest successful backup in the store, so that `store status` and `store doctor`
// can report its age.
import type { Documents } from "../../engine/records.ts";
import { isCount, isFields, isText } from "../../model/shape.ts";

export interface BackupRecord {
  /** When the backup was complete, in milliseconds since the epoch. */
  readonly time: number;
  /** Where it is, without passwords. */
  readonly to: string;
}

const kind = "backup";
const name = "latest";
const maxText = 4096;

export async function recordBackup(documents: Documents, record: BackupRecord): Promise<void> {
  for (;;) {
    const revision = (await documents.get(kind, name))?.revision;
    if ((await documents.put(kind, name, JSON.stringify(record), revision)) === "committed") return;
  }
}

/** Undefined: no backup was recorded. Backups by other tools are not known. */
export async function readLastBackup(documents: Documents): Promise<BackupRecord | undefined> {
  const text = (await documents.get(kind, name))?.text;
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isFields(value) || !isCount(value.time) || !isText(value.to, maxText)) return undefined;
  return { time: value.time, to: value.to };
}
