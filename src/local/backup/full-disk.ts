// Maps the error of a full disk to a BackupError; other errors are not changed.
import { BackupError } from "../../model/backup.ts";
import { sqliteCode, sqliteFull } from "../index/sqlite.ts";

export function mapFullDiskError(error: unknown, path: string, consequence: string): unknown {
  const { code } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  const isFull = code === "ENOSPC" || code === "EDQUOT" || sqliteCode(error) === sqliteFull;
  if (!isFull) return error;
  return new BackupError(`The disk of "${path}" is full.`, [consequence], error);
}
