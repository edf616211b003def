// Reads the files of an audit log: `audit.log`, and before it the files that rotation renamed.
import { Buffer } from "node:buffer";
import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { maxLineBytes } from "../../audit/chain.ts";
import { isMissing } from "./errors.ts";

/** A renamed file ends with the number of its last entry, so names sort by age. */
const rotatedPattern = /^\.(\d{15})$/;
const chunkBytes = 64 * 1024;
/** A longer line is not an entry. It is read as several lines, none of which is valid. */
const maxReadLine = 64 * maxLineBytes;

export interface RotatedFile {
  readonly path: string;
  readonly lastSeq: number;
}

export function rotatedPath(path: string, lastSeq: number): string {
  return `${path}.${String(lastSeq).padStart(15, "0")}`;
}

/** Returns the files that rotation renamed, oldest first. */
export async function listRotated(path: string): Promise<readonly RotatedFile[]> {
  const name = basename(path);
  const found: RotatedFile[] = [];
  for (const file of await readdir(dirname(path))) {
    const match = file.startsWith(name) ? rotatedPattern.exec(file.slice(name.length)) : null;
    if (match !== null) found.push({ path: join(dirname(path), file), lastSeq: Number(match[1]) });
  }
  return found.sort((a, b) => a.lastSeq - b.lastSeq);
}

export async function fileSize(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Returns undefined if the file does not exist. */
export async function openIfExists(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

export interface FileLine {
  readonly bytes: Buffer;
  /** Offset after the line and its line break. */
  readonly end: number;
  readonly isComplete: boolean;
}

/** Yields the lines from `start` to `size`. Memory is bounded, however long a line is. */
export async function* readLines(file: FileHandle, start: number, size: number): AsyncGenerator<FileLine> {
  let rest = Buffer.alloc(0);
  let end = start;
  for (let offset = start; offset < size; ) {
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, size - offset));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, offset);
    if (bytesRead === 0) break;
    offset += bytesRead;
    rest = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
    let from = 0;
    for (let at = rest.indexOf(10); at !== -1; at = rest.indexOf(10, from)) {
      end += at + 1 - from;
      yield { bytes: rest.subarray(from, at), end, isComplete: true };
      from = at + 1;
    }
    rest = rest.subarray(from);
    if (rest.length <= maxReadLine) continue;
    end += rest.length;
    yield { bytes: rest, end, isComplete: true };
    rest = Buffer.alloc(0);
  }
  if (rest.length > 0) yield { bytes: rest, end: end + rest.length, isComplete: false };
}
