// The audit log of a data directory: a file of JSON lines, each appended and synced. The file is
// opened for every entry, so after log rotation renames it, the next entry creates a new file.
import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { AuditEntry, AuditLog, LoggedEntry } from "../../audit/audit-log.ts";
import { isMissing } from "./errors.ts";
import { syncDirectory } from "./fsync-directory.ts";

export function createAuditFile(path: string): AuditLog {
  return {
    async record(entry) {
      const isNew = !(await exists(path));
      const file = await open(path, "a", 0o600);
      try {
        // A single write, so that entries of concurrent processes are not interleaved.
        await file.appendFile(`${JSON.stringify(entry)}\n`);
        await file.datasync();
      } finally {
        await file.close();
      }
      if (isNew) await syncDirectory(dirname(path));
    },
    async *read(after = "0"): AsyncGenerator<LoggedEntry> {
      let offset = Number(after);
      // Shorter than the saved offset: the file was rotated, start at 0.
      if (offset > ((await fileSize(path)) ?? 0)) offset = 0;
      for await (const { line, end } of readLines(path, offset)) {
        const entry = parseEntry(line);
        if (entry !== undefined) yield { entry, position: String(end) };
      }
    },
  };
}

async function exists(path: string): Promise<boolean> {
  return (await fileSize(path)) !== undefined;
}

async function fileSize(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Yields complete lines only: a crash or a write in progress leaves a last line incomplete. */
async function* readLines(path: string, start: number): AsyncGenerator<{ line: string; end: number }> {
  if (!(await exists(path))) return;
  let rest = Buffer.alloc(0);
  let end = start;
  for await (const chunk of createReadStream(path, { start })) {
    rest = Buffer.concat([rest, chunk as Buffer]);
    for (let at = rest.indexOf(10); at !== -1; at = rest.indexOf(10)) {
      end += at + 1;
      yield { line: rest.toString("utf8", 0, at), end };
      rest = rest.subarray(at + 1);
    }
  }
}

/** Returns undefined for an invalid line: a crash cut an entry, and the next was appended to it. */
function parseEntry(line: string): AuditEntry | undefined {
  try {
    return JSON.parse(line) as AuditEntry;
  } catch {
    return undefined;
  }
}
