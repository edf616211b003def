// The record of the latest successful backup: a file of a data directory, or a document of a cluster.
import type { LastBackup } from "./backup.ts";
import { isCount, isFields, isNumber, isText } from "./shape.ts";

const maxTextLength = 4096;

const kind = "backup";
/** Where the record is among the documents of a cluster. */
export const lastBackupDocument = { kind, name: "last" } as const;

/** Returns undefined if the text is not a valid record. */
export function parseLastBackup(text: string): LastBackup | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isFields(value)) return undefined;
  const { time, to, seconds, bytes } = value;
  if (!isCount(time) || !isText(to, maxTextLength) || !isCount(bytes)) return undefined;
  return isNumber(seconds) && seconds >= 0 ? { time, to, seconds, bytes } : undefined;
}
