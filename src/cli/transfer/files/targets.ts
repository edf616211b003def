// Where a copy writes to: files below a folder, one file, keys below a prefix, one key, or stdout.
import { statSync } from "node:fs";
import { mkdir, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { CommandError, usageError } from "../../framework/command-error.ts";
import { fileError } from "../../framework/failures.ts";
import type { ObjectAddress } from "../../store/object-address.ts";
import type { ObjectSide, Side } from "../../store/stores.ts";
import { checkTarget, writeFileWhole } from "../download.ts";
import { nameProblem } from "../sync/folder-names.ts";
import { createFolderWriter } from "../sync/folder-writer.ts";

export type CopyTarget =
  | { readonly kind: "stream" }
  | { readonly kind: "object"; readonly side: ObjectSide; address(name: string): ObjectAddress }
  | FileTarget;

export interface FileTarget {
  readonly kind: "file";
  /** The path of a name, for messages. */
  path(name: string): string;
  write(name: string, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /** Makes the written files durable. */
  finish(): Promise<void>;
}

export interface TargetOptions {
  /** Whether the source is a folder, a prefix or a pattern. */
  readonly isMany: boolean;
  readonly isDryRun: boolean;
  readonly directory: string;
  readonly except: string | undefined;
  readonly signal: AbortSignal;
}

export async function openTarget(side: Side, options: TargetOptions): Promise<CopyTarget> {
  if (side.kind === "stream") {
    if (options.isMany) throw usageError("Only one object can be copied to standard output.");
    return { kind: "stream" };
  }
  return side.kind === "path" ? openFiles(side.path, options) : openObjects(side, options);
}

async function openObjects(side: ObjectSide, { isMany }: TargetOptions): Promise<CopyTarget> {
  const { store, bucket, key } = side;
  if (bucket === "") throw usageError(`"${side.text}" has no bucket.`, "For example: photos/cat.jpg");
  if ((await store.engine.bucket(bucket, [])) === undefined) {
    throw new CommandError(`There is no bucket "${bucket}".`, {
      hint: [`Create it: store bucket create ${bucket}`, "List buckets: store bucket list"],
    });
  }
  const isFolder = isMany || key === "" || key.endsWith("/");
  const prefix = key === "" || key.endsWith("/") ? key : `${key}/`;
  return { kind: "object", side, address: (name) => ({ bucket, key: isFolder ? prefix + name : key }) };
}

async function openFiles(path: string, options: TargetOptions): Promise<FileTarget> {
  const full = resolve(options.directory, path);
  const isFolder = statSync(full, { throwIfNoEntry: false })?.isDirectory() === true;
  if (options.isMany || isFolder || path.endsWith("/")) return openFolder(full, options);
  const target = await checkTarget(full);
  return {
    kind: "file",
    path: () => path,
    write: (_, chunks) => writeFileWhole(target, chunks, options.signal),
    finish: async () => {},
  };
}

/** Files are written below the folder only, never through a symbolic link. */
async function openFolder(full: string, { isDryRun, except, signal }: TargetOptions): Promise<FileTarget> {
  if (!isDryRun) {
    await mkdir(full, { recursive: true }).catch((error: unknown) => {
      throw fileError(error, "create the folder", full);
    });
  }
  const folder = isDryRun ? full : await realpath(full);
  const writer = createFolderWriter({ folder, except, signal });
  return {
    kind: "file",
    path: (name) => join(full, name),
    async write(name, chunks) {
      const problem = nameProblem(name);
      if (problem !== undefined) throw new CommandError(`The key is not a valid file path: ${problem}.`);
      await writer.write(name, chunks);
    },
    finish: () => writer.finish(),
  };
}
