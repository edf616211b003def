// Appends entries to the audit log's file, with the writers' lock held: continues the chain, ends a
// line that a crash cut, and renames a full file.
import type { Buffer } from "node:buffer";
import type { FileHandle } from "node:fs/promises";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { type AuditEntry, defaultLogBytes, minLogBytes } from "../../audit/audit-log.ts";
import { type ChainHead, formatTrim, sealEntry, sha256 } from "../../audit/chain.ts";
import { readAside } from "./audit-aside.ts";
import { fileSize, listRotated, rotatedPath } from "./audit-lines.ts";
import {
  hashFile,
  headOf,
  laterHead,
  readJson,
  readRotatedHead,
  readSavedHead,
  readTail,
  saveHead,
} from "./audit-tail.ts";
import { syncDirectory } from "./fsync-directory.ts";

export interface AuditPaths {
  readonly log: string;
  readonly lock: string;
  /** The last entry, saved by its writer: shows that entries were cut off the end of the log. */
  readonly head: string;
  /** The limit for the size of the log in bytes. */
  readonly limit: string;
}

export function auditPaths(log: string): AuditPaths {
  return { log, lock: `${log}.lock`, head: `${log}.head`, limit: `${log}.limit` };
}

/** The log is at most this many files: one is written, the others were renamed. */
const fileCount = 8;
const server = { face: "server" } as const;

/** Appends the entries that were set aside, and then the given ones. */
export async function appendEntries(paths: AuditPaths, given: readonly AuditEntry[]): Promise<void> {
  const aside = await readAside(paths.log);
  const entries = [...aside.entries, ...given];
  if (entries.length > 0) await appendToChain(paths, entries);
  // After the chain has them: a crash in between records these entries twice, but never loses them.
  for (const path of aside.paths) await rm(path, { force: true });
}

async function appendToChain(paths: AuditPaths, entries: readonly AuditEntry[]): Promise<void> {
  const limit = await readLimit(paths);
  await renameFullFile(paths, limit / fileCount);
  const trims = await findTrims(paths, limit, entries[0]!.time);
  const head = await withLogFile(paths.log, (file, size) =>
    appendTo(file, size, paths, [...trims.entries, ...entries]),
  );
  await saveHead(paths.head, head);
  // After the entry that records it: a crash in between leaves files that the next trim removes.
  for (const path of trims.paths) await rm(path, { force: true });
}

export async function readLimit({ limit }: AuditPaths): Promise<number> {
  const saved = await readJson(limit);
  return typeof saved === "number" && saved >= minLogBytes ? saved : defaultLogBytes;
}

async function withLogFile<T>(
  path: string,
  work: (file: FileHandle, size: number) => Promise<T>,
): Promise<T> {
  const isNew = (await fileSize(path)) === undefined;
  const file = await open(path, "a+", 0o600);
  let result: T;
  try {
    result = await work(file, (await file.stat()).size);
  } finally {
    await file.close();
  }
  if (isNew) await syncDirectory(dirname(path));
  return result;
}

async function appendTo(
  file: FileHandle,
  size: number,
  paths: AuditPaths,
  entries: readonly AuditEntry[],
): Promise<ChainHead> {
  let { head, torn } = await readTail(file, size);
  const whole = torn.length === 0 ? undefined : headOf(torn);
  // Only the line break of the last entry is missing.
  if (whole !== undefined) head = whole;
  head = laterHead(head, await readSavedHead(paths.head)) ?? (await readRotatedHead(paths.log));
  const isStarted = head !== undefined;
  head ??= { seq: 0, hash: await hashFile(file, size) };
  let text = torn.length === 0 ? "" : "\n";
  const isCut = isStarted && torn.length > 0 && whole === undefined;
  const repairs = isCut ? [repairEntry(torn, entries[0]!.time)] : [];
  for (const entry of [...repairs, ...entries]) {
    const sealed = sealEntry(entry, head);
    text += `${sealed.line}\n`;
    head = sealed.head;
  }
  try {
    await file.appendFile(text);
    await file.datasync();
  } catch (error) {
    // The disk is full, for example: leave no part of an entry.
    await file.truncate(size).catch(() => {});
    throw error;
  }
  return head;
}

/** Names the hash of the cut line, which stays in the file. */
function repairEntry(torn: Buffer, time: string): AuditEntry {
  return { time, act: "repair audit log", detail: sha256(torn), count: torn.length, by: server };
}

/** Renames the file if it is full. The new file continues the chain. */
async function renameFullFile(paths: AuditPaths, maxBytes: number): Promise<void> {
  const size = (await fileSize(paths.log)) ?? 0;
  if (size < maxBytes) return;
  const head = await withLogFile(paths.log, async (file) => {
    const { head: last, torn } = await readTail(file, size);
    // An incomplete line is repaired in its own file first.
    return torn.length > 0 ? undefined : laterHead(last, await readSavedHead(paths.head));
  });
  if (head === undefined) return;
  // Saved before the rename: without it, a new file could not continue the chain.
  await saveHead(paths.head, head);
  await rename(paths.log, rotatedPath(paths.log, head.seq));
  await syncDirectory(dirname(paths.log));
}

/** Finds the oldest files beyond the limit, and the entry that records their removal. */
async function findTrims(
  { log }: AuditPaths,
  limit: number,
  time: string,
): Promise<{ readonly paths: readonly string[]; readonly entries: readonly AuditEntry[] }> {
  const files = await listRotated(log);
  const sizes = await Promise.all(files.map(async ({ path }) => (await fileSize(path)) ?? 0));
  // The file that is written may become full.
  let total = sizes.reduce((sum, size) => sum + size, limit / fileCount);
  let count = 0;
  while (count < files.length && total > limit) total -= sizes[count++]!;
  if (count === 0) return { paths: [], entries: [] };
  const detail = formatTrim(files[count - 1]!.lastSeq);
  return {
    paths: files.slice(0, count).map(({ path }) => path),
    entries: [{ time, act: "trim audit log", detail, by: server }],
  };
}
