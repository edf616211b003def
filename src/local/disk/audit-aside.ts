// Entries of writers that did not get the lock of the audit log in time, because the process that
// holds it is stopped or blocked. Each batch is a file of its own. The next writer that gets the lock
// appends them to the chain.
import { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import { open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { AuditEntry } from "../../audit/audit-log.ts";
import { limitTexts, parseLine, sha256 } from "../../audit/chain.ts";
import { isMissing } from "./errors.ts";
import { syncDirectory } from "./fsync-directory.ts";
import { privateFile } from "./private-files.ts";

/** More batches are refused: their writers keep and combine the entries. */
const maxBatches = 1000;
/** Of the batches that one append adds to the chain, only the last may exceed this. */
const maxAppendBytes = 4 * 1024 * 1024;
const suffixPattern = /^\.aside\.[0-9a-f-]{36}$/;

export interface Aside {
  readonly entries: readonly AuditEntry[];
  /** The files of the entries, to be removed once the chain has them. */
  readonly paths: readonly string[];
}

/** Makes the entries durable outside of the chain. Needs no lock: no other writer knows the file. */
export async function setAside(log: string, entries: readonly AuditEntry[]): Promise<void> {
  if ((await listAside(log)).length >= maxBatches) {
    throw new Error(
      `${maxBatches} batches of entries already wait for the process that holds ${basename(log)}.lock`,
    );
  }
  const path = `${log}.aside.${randomUUID()}`;
  const text = entries.map((entry) => `${JSON.stringify(limitTexts(entry))}\n`).join("");
  try {
    const file = await open(`${path}.new`, "wx", privateFile);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${path}.new`, path);
  } catch (error) {
    await rm(`${path}.new`, { force: true }).catch(() => {});
    throw error;
  }
  await syncDirectory(dirname(log));
}

export async function hasAside(log: string): Promise<boolean> {
  return (await listAside(log)).length > 0;
}

export async function countAside(log: string): Promise<number> {
  return (await readAside(log, Number.POSITIVE_INFINITY)).entries.length;
}

/** Reads the oldest batches. The lock must be held if they are to be appended. */
export async function readAside(log: string, maxBytes = maxAppendBytes): Promise<Aside> {
  const entries: AuditEntry[] = [];
  const paths: string[] = [];
  let bytes = 0;
  for (const { path, time } of await listAside(log)) {
    if (bytes >= maxBytes) break;
    const text = await readFile(path).catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    if (text === undefined) continue;
    bytes += text.length;
    paths.push(path);
    for (const line of text.toString("utf8").split("\n"))
      if (line !== "") entries.push(parseAside(line, time));
  }
  return { entries, paths };
}

/** A line that is not an entry was damaged: the chain records its hash instead. */
function parseAside(line: string, milliseconds: number): AuditEntry {
  const bytes = Buffer.from(line);
  const parsed = parseLine(bytes);
  if (parsed.kind !== "damaged") return parsed.entry;
  const time = new Date(milliseconds).toISOString();
  return {
    time,
    act: "repair audit log",
    detail: sha256(bytes),
    count: bytes.length,
    by: { face: "server" },
  };
}

/** Returns the files of the batches, the oldest first. */
async function listAside(log: string): Promise<{ readonly path: string; readonly time: number }[]> {
  const name = basename(log);
  const files = (await readdir(dirname(log))).filter(
    (file) => file.startsWith(name) && suffixPattern.test(file.slice(name.length)),
  );
  const found: { path: string; time: number }[] = [];
  for (const file of files) {
    const path = join(dirname(log), file);
    // Another process may have appended and removed it meanwhile.
    const time = (await stat(path).catch(() => undefined))?.mtimeMs;
    if (time !== undefined) found.push({ path, time });
  }
  return found.sort((a, b) => a.time - b.time || (a.path < b.path ? -1 : 1));
}
