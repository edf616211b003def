// A segment: one file shared by many bodies, so that one write and one sync make them all durable.
// Only the process that created it appends to it. A marker exists until all its bodies are settled.
import { close, constants, fdatasync, ftruncate, open, rmSync, write } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { isMissing } from "../disk/errors.ts";
import { syncDirectory } from "../disk/fsync-directory.ts";
import { type BucketPaths, markerName, randomName } from "../disk/layout.ts";
import { privateFile, privateFolder } from "../disk/private-files.ts";

const openFile = promisify(open);
const closeFile = promisify(close);
const syncFile = promisify(fdatasync);
const writeBytes = promisify(write);
const truncateFile = promisify(ftruncate);

export interface Segment {
  readonly name: string;
  /** Number of reserved bytes. */
  readonly end: number;
  /** Reserves bytes for one body after the bytes that are already reserved. */
  reserve(bytes: number): void;
  /** Writes and syncs a group of bodies at this offset. */
  append(bytes: Uint8Array, at: number): Promise<void>;
  /** Truncates the file to this offset after a failed write. */
  truncate(at: number): Promise<void>;
  /** Reports that a record references the body, or that the body was dropped. */
  settle(fate: "referenced" | "dropped"): void;
  /** Refuses new reservations. When all bodies are settled, removes marker and unused file. */
  seal(): void;
}

export async function openSegment(paths: BucketPaths, processName: string): Promise<Segment> {
  const name = randomName();
  const path = join(paths.segments, name);
  const marker = join(paths.open, markerName(name, processName));
  await writeFile(marker, "", { mode: privateFile });
  const file = await createDurably(paths, path).catch((error: unknown) => {
    for (const left of [path, marker]) rmSync(left, { force: true });
    throw error;
  });
  let end = 0;
  let referencedBodies = 0;
  let unsettled = 0;
  let sealed = false;
  let writing = 0;

  function endWriting(): void {
    if (!sealed || unsettled > 0 || writing > 0) return;
    // All bytes are already synced, so the close need not be awaited.
    closeFile(file).catch(() => {});
    if (referencedBodies === 0) rmSync(path, { force: true });
    rmSync(marker, { force: true });
  }

  return {
    name,
    get end() {
      return end;
    },
    reserve(bytes) {
      end += bytes;
      unsettled++;
    },
    async append(bytes, at) {
      writing++;
      try {
        for (let done = 0; done < bytes.length; ) {
          const { bytesWritten } = await writeBytes(file, bytes, done, bytes.length - done, at + done);
          done += bytesWritten;
        }
        await syncFile(file);
      } finally {
        writing--;
        endWriting();
      }
    },
    async truncate(at) {
      writing++;
      try {
        await truncateFile(file, at);
      } finally {
        writing--;
        endWriting();
      }
    },
    settle(fate) {
      unsettled--;
      if (fate === "referenced") referencedBodies++;
      endWriting();
    },
    seal() {
      if (sealed) return;
      sealed = true;
      endWriting();
    },
  };
}

async function createDurably(paths: BucketPaths, path: string): Promise<number> {
  await syncDirectory(paths.open);
  const file = await createFile(paths, path);
  try {
    await syncDirectory(paths.segments);
    return file;
  } catch (error) {
    await closeFile(file);
    throw error;
  }
}

async function createFile(paths: BucketPaths, path: string): Promise<number> {
  const flags = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY;
  try {
    return await openFile(path, flags, privateFile);
  } catch (error) {
    if (!isMissing(error)) throw error;
    // Earlier versions had no folder for segments. If the bucket's folder is missing, the bucket
    // was deleted.
    await mkdir(paths.segments, { mode: privateFolder }).catch((reason: NodeJS.ErrnoException) => {
      if (reason.code !== "EEXIST") throw reason;
    });
    await syncDirectory(paths.directory);
    return openFile(path, flags, privateFile);
  }
}
