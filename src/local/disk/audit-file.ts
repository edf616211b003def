// The audit log of a data directory: a file of JSON lines in a hash chain, each synced. Processes
// append in turn. The file is opened for every entry, so it can be renamed at any time.
import type { FileHandle } from "node:fs/promises";
import { rename, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout } from "node:timers";
import type { AuditEntry, AuditLog, LoggedEntry } from "../../audit/audit-log.ts";
import { type ChainFields, parseLine } from "../../audit/chain.ts";
import type { AuditLine, ChainReport } from "../../audit/chain-report.ts";
import { verifyChain } from "../../audit/verify-chain.ts";
import { type AuditPaths, appendEntries, auditPaths } from "./audit-append.ts";
import { countAside, hasAside, setAside } from "./audit-aside.ts";
import { listRotated, openIfExists, readLines } from "./audit-lines.ts";
import { withAuditLock } from "./audit-lock.ts";
import { readSavedHead } from "./audit-tail.ts";

/** Entries that are appended with one sync. */
const maxBatch = 256;
/** After this time, the process that holds the lock counts as blocked. */
const waitMilliseconds = 2000;
/** Pause before the entries that were set aside are appended to the chain. */
const asideMilliseconds = 1000;

interface WaitingEntry {
  readonly entry: AuditEntry;
  resolve(): void;
  reject(error: unknown): void;
}

/** Appends what was set aside. Returns false if entries still wait. */
async function appendAside(paths: AuditPaths, milliseconds: number): Promise<boolean> {
  try {
    await withAuditLock(paths.lock, milliseconds, () => appendEntries(paths, []));
    return !(await hasAside(paths.log));
  } catch {
    // The entries stay where they are, and recording the next entry reports the error.
    return false;
  }
}

export function createAuditFile(path: string): AuditLog {
  const paths = auditPaths(path);
  const waiting: WaitingEntry[] = [];
  let isAppending = false;
  /** Entries of this process were set aside, because another process holds the lock. */
  let isBlocked = false;
  let isScheduled = false;

  /** Appends the waiting entries, as many as possible with one lock and one sync. */
  async function appendWaiting(): Promise<void> {
    if (isAppending) return;
    isAppending = true;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, maxBatch);
      try {
        await appendOrSetAside(batch.map(({ entry }) => entry));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isAppending = false;
  }

  async function appendOrSetAside(entries: readonly AuditEntry[]): Promise<void> {
    // The first batch has waited for the blocked process. Later ones only try.
    const wait = isBlocked ? 0 : waitMilliseconds;
    isBlocked = (await withAuditLock(paths.lock, wait, () => appendEntries(paths, entries))) === undefined;
    if (!isBlocked) return;
    await setAside(path, entries);
    appendAsideLater();
  }

  /** Without further entries to record, no other append might come. */
  function appendAsideLater(): void {
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(async () => {
      isBlocked = !(await appendAside(paths, 0));
      isScheduled = false;
      if (isBlocked) appendAsideLater();
    }, asideMilliseconds).unref();
  }

  return {
    record(entry) {
      return new Promise((resolve, reject) => {
        waiting.push({ entry, resolve, reject });
        void appendWaiting();
      });
    },
    async *read(after) {
      if (await hasAside(path)) await appendAside(paths, 0);
      yield* readEntries(path, after);
    },
    verify: (expected) => verifyFiles(paths, expected),
    async limit(bytes) {
      const done = await withAuditLock(paths.lock, waitMilliseconds, async () => {
        await writeFile(`${paths.limit}.new`, `${bytes}\n`, { mode: 0o600, flush: true });
        await rename(`${paths.limit}.new`, paths.limit);
      });
      if (done === undefined) {
        throw new Error(
          `Another process holds ${paths.lock} and does not continue. End it, and change the limit again.`,
        );
      }
    },
  };
}

/** Number of the last entry that was read, its file and the offset after it. */
interface Position {
  readonly seq: number;
  readonly inode: number;
  readonly offset: number;
}

function parsePosition(text: string | undefined): Position {
  const [seq = 0, inode = 0, offset = 0] = text?.split(" ").map(Number) ?? [];
  return { seq, inode, offset };
}

async function* readEntries(path: string, after: string | undefined): AsyncGenerator<LoggedEntry> {
  const from = parsePosition(after);
  const { files, close } = await openFiles(path);
  try {
    const resumed = await findResumed(files, from);
    let { seq } = from;
    for (const { file, inode, size } of files.slice(Math.max(0, resumed))) {
      const start = resumed !== -1 && inode === from.inode ? from.offset : 0;
      for await (const { bytes, end, isComplete } of readLines(file, start, size)) {
        const entry = isComplete ? readEntry(bytes) : undefined;
        if (entry === undefined) continue;
        // The file was renamed by another program or trimmed: skip what was read.
        if (resumed === -1 && entry.seq !== undefined && entry.seq <= from.seq) continue;
        seq = entry.seq ?? seq;
        yield { entry, position: `${seq} ${inode} ${end}` };
      }
    }
  } finally {
    await close();
  }
}

function readEntry(bytes: Uint8Array): (AuditEntry & Partial<ChainFields>) | undefined {
  const parsed = parseLine(bytes);
  return parsed.kind === "damaged" ? undefined : parsed.entry;
}

/** Returns the index of the file in which reading continues. -1: read all files from the start. */
async function findResumed(files: readonly OpenFile[], from: Position): Promise<number> {
  const index = files.findIndex(({ inode, size }) => inode === from.inode && size >= from.offset);
  if (index === -1) return -1;
  const { file, size } = files[index]!;
  for await (const { bytes } of readLines(file, from.offset, size)) {
    const { seq } = readEntry(bytes) ?? {};
    // Inodes are reused: at this offset, another file has another entry, or a part of one.
    return seq === undefined || seq === from.seq + 1 ? index : -1;
  }
  return index;
}

interface OpenFile {
  readonly path: string;
  readonly file: FileHandle;
  readonly inode: number;
  readonly size: number;
}

/** Opens the renamed files and the current one, oldest first. */
async function openFiles(path: string): Promise<{ files: OpenFile[]; close(): Promise<void> }> {
  const files: OpenFile[] = [];
  const add = async (one: string) => {
    const file = await openIfExists(one);
    if (file === undefined) return;
    const { ino: inode, size } = await file.stat();
    if (files.some((opened) => opened.inode === inode)) await file.close();
    else files.push({ path: one, file, inode, size });
  };
  const close = async () => {
    for (const { file } of files) await file.close();
  };
  try {
    // The current file first: if it is renamed meanwhile, it is found twice instead of never.
    await add(path);
    for (const rotated of await listRotated(path)) await add(rotated.path);
  } catch (error) {
    await close();
    throw error;
  }
  const [current, ...rotated] = files;
  return { files: current?.path === path ? [...rotated, current] : files, close };
}

/** Opens the files with the lock, so that no entry is half written and no file is renamed. */
async function verifyFiles(paths: AuditPaths, expected: readonly string[] = []): Promise<ChainReport> {
  if (await hasAside(paths.log)) await appendAside(paths, waitMilliseconds);
  const openAll = async () => ({
    savedHead: await readSavedHead(paths.head),
    opened: await openFiles(paths.log),
  });
  const locked = await withAuditLock(paths.lock, waitMilliseconds, openAll);
  // A process that keeps the lock for long is stopped or blocked: it appends nothing meanwhile.
  const { opened, savedHead } = locked?.result ?? (await openAll());
  try {
    const report = await verifyChain(linesOf(opened.files), { savedHead, expected });
    return { ...report, waiting: await countAside(paths.log) };
  } finally {
    await opened.close();
  }
}

async function* linesOf(files: readonly OpenFile[]): AsyncGenerator<AuditLine> {
  for (const { path, file, size } of files) {
    let number = 0;
    for await (const { bytes, isComplete } of readLines(file, 0, size)) {
      yield { bytes, isComplete, file: basename(path), number: ++number };
    }
  }
}
