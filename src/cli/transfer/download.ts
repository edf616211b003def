// Writes bytes to a temporary file in the same folder and renames it: the file appears complete or
// not at all, and an existing file is kept until the rename.
import { randomBytes } from "node:crypto";
import type { Stats } from "node:fs";
import { open, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CommandError } from "../framework/command-error.ts";
import { fileError, systemCode } from "../framework/failures.ts";
import { shellWord } from "../framework/shell-quote.ts";

export interface Target {
  readonly path: string;
  /** Undefined when the path does not exist. */
  readonly existing: Stats | undefined;
}

/** Checks the path before any bytes are fetched. */
export async function checkTarget(path: string): Promise<Target> {
  const existing = await statIfExists(path);
  if (existing?.isDirectory()) {
    throw new CommandError(`"${path}" is a folder; name a file.`, {
      hint: `For example: ${shellWord(join(path, "cat.jpg"))}`,
    });
  }
  const folder = dirname(path);
  if (existing === undefined && (await statIfExists(folder)) === undefined) {
    throw new CommandError(`Cannot write "${path}": there is no folder "${folder}".`, {
      hint: `Create it first: mkdir -p ${shellWord(folder)}`,
    });
  }
  return { path, existing };
}

async function statIfExists(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw fileError(error, "write", path);
  }
}

export async function writeFileWhole(
  { path, existing }: Target,
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  try {
    // Devices and pipes are written to directly: a rename would replace them.
    if (existing !== undefined && !existing.isFile()) await writeInto(path, "w", chunks, signal);
    // Replace the target of a symbolic link, not the link.
    else await replace(existing === undefined ? path : await realpath(path), chunks, signal, existing?.mode);
  } catch (error) {
    throw fileError(error, "write", path);
  }
}

async function replace(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  mode: number | undefined,
): Promise<void> {
  await writeBeside(dirname(path), { chunks, signal, mode }, (partial) => rename(partial, path));
}

export interface FileWrite {
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly signal: AbortSignal;
  /** File mode of the file to be replaced. */
  readonly mode?: number | undefined;
}

/** Writes and syncs a temporary file, which `publish` renames. On failure the file is removed. */
export async function writeBeside(
  folder: string,
  { chunks, signal, mode }: FileWrite,
  publish: (partial: string) => Promise<void>,
): Promise<void> {
  const partial = join(folder, `.store-${randomBytes(8).toString("hex")}.part`);
  try {
    await writeInto(partial, "wx", chunks, signal, mode);
    await publish(partial);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function writeInto(
  path: string,
  flags: "w" | "wx",
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  mode?: number,
): Promise<void> {
  const handle = await open(path, flags);
  try {
    if (mode !== undefined) await handle.chmod(mode & 0o777);
    await writeFile(handle, chunks, { signal });
    // Sync only new files ("wx"): "w" also opens pipes and devices, and some devices fail on sync.
    if (flags === "wx") await handle.sync();
  } finally {
    await handle.close();
  }
}
