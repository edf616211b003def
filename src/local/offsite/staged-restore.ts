// Restores a backup into a folder from which it is copied elsewhere, such as to a cluster. A record
// in the folder names the backup, so that a later run resumes with the same one.
import { Buffer } from "node:buffer";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, rename, rm, rmdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { BackupError, type StagedBackup, type StagedSource, type StagedWork } from "../../model/backup.ts";
import { isCount, isFields, isOptional, isText } from "../../model/shape.ts";
import { writeWhole } from "../backup/copy-blob.ts";
import { isMissing } from "../disk/errors.ts";
import { syncDirectory } from "../disk/fsync-directory.ts";
import { dataLayout } from "../disk/layout.ts";
import { privateFolder } from "../disk/private-files.ts";

interface StagingRecord {
  readonly from: string;
  readonly backup?: string | undefined;
  /** Missing until the restore is complete. */
  readonly made?: number | undefined;
}

const recordName = "restore.json";
const dataName = "data";
const maxTextLength = 4096;

export async function stageBackup(
  folder: string,
  source: StagedSource,
  { check, restore }: StagedWork,
): Promise<StagedBackup> {
  const root = resolve(folder);
  const data = join(root, dataName);
  const record = await readRecord(root);
  if (record !== undefined) checkSource(root, record, source);
  await check(data);
  if (record === undefined) {
    await mkdir(root, { recursive: true, mode: privateFolder });
    await writeRecord(root, { from: source.from });
  }
  const remove = (kept: string) => removeStaged(root, kept);
  if (record?.made !== undefined) return { data, made: record.made, report: undefined, remove };
  const names = await namesIn(data);
  // Complete, but its record is not: whether it is the same backup is not known.
  if (names.length > 0 && !existsSync(dataLayout(data).restoreMarker)) await rm(data, { recursive: true });
  const report = await restore(data).catch(async (error: unknown) => {
    // Refused before it began: leaves no trace.
    if (record === undefined && (await namesIn(data)).length === 0) await removeStaged(root, "");
    throw error;
  });
  await writeRecord(root, { from: source.from, backup: report.backup, made: report.made });
  return { data, made: report.made, report, remove };
}

function checkSource(root: string, { from, backup, made }: StagingRecord, source: StagedSource): void {
  const hint = `To restore the other backup, remove the folder "${root}" or name another one: --staging DIR`;
  if (from !== source.from)
    throw new BackupError(`The staging folder holds the beginning of a restore from ${from}.`, [hint]);
  const isOther =
    (source.backup !== undefined && backup !== undefined && !backup.endsWith(source.backup)) ||
    (source.at !== undefined && made !== undefined && made > source.at);
  if (isOther) throw new BackupError(`The staging folder holds another backup, ${backup ?? from}.`, [hint]);
}

/** Returns undefined for a folder that is new or empty. */
async function readRecord(root: string): Promise<StagingRecord | undefined> {
  const names = await namesIn(root);
  const other = names.find((name) => ![dataName, recordName, `${recordName}.partial`].includes(name));
  const found = names.includes(recordName)
    ? parseRecord(readFileSync(join(root, recordName), "utf8"))
    : undefined;
  if (other === undefined && found !== undefined) return found;
  const first = other ?? names.find((name) => name !== `${recordName}.partial`);
  if (first === undefined) return undefined;
  throw new BackupError(`"${root}" is not empty: it holds "${first}".`, [
    "Name a new or empty folder, or the folder of an interrupted restore: --staging DIR",
  ]);
}

function parseRecord(text: string): StagingRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isFields(value)) return undefined;
  const { from, backup, made } = value;
  const isName = (one: unknown): one is string => isText(one, maxTextLength);
  if (!isName(from) || !isOptional(backup, isName) || !isOptional(made, isCount)) return undefined;
  return { from, backup, made };
}

async function writeRecord(root: string, record: StagingRecord): Promise<void> {
  const path = join(root, recordName);
  await writeWhole(`${path}.partial`, Buffer.from(`${JSON.stringify(record)}\n`));
  await rename(`${path}.partial`, path);
  await syncDirectory(root);
}

async function removeStaged(root: string, kept: string): Promise<{ readonly keptFile: string | undefined }> {
  const from = join(root, dataName, kept);
  const to = join(root, kept);
  const isKept = kept !== "" && existsSync(from);
  if (isKept) {
    await rename(from, to);
    await syncDirectory(root);
  }
  await rm(join(root, dataName), { recursive: true, force: true });
  await rm(join(root, recordName), { force: true });
  // Fails if something is kept.
  await rmdir(root).catch(() => {});
  return { keptFile: isKept ? to : undefined };
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).filter((name) => name !== "lost+found");
  } catch (error) {
    if (isMissing(error)) return [];
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR")
      throw new BackupError(`"${directory}" is not a folder.`, ["Name a folder: --staging DIR"]);
    throw error;
  }
}
