// Lists what a copy, a move or a deletion works on: one file or object, or all below a folder or a
// prefix that match a pattern. Nothing is in memory as a whole.
import { lstat, realpath } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { StoreError } from "../../../model/errors.ts";
import type { ObjectRecord } from "../../../model/object.ts";
import { CommandError, usageError } from "../../framework/command-error.ts";
import { fileError, toCommandError } from "../../framework/failures.ts";
import { compilePattern, type NameFilter, splitPattern } from "../../store/glob.ts";
import type { ObjectSide, Side } from "../../store/stores.ts";
import { requireObject } from "../../store/version-options.ts";
import { isFolderMark } from "../sync/folder-names.ts";
import { walkFolder } from "../sync/folder-walk.ts";
import { listObjects } from "../sync/sync.ts";

export type SourceItem =
  | { readonly kind: "file"; readonly name: string; readonly path: string }
  | {
      readonly kind: "object";
      readonly name: string;
      readonly side: ObjectSide;
      readonly record: ObjectRecord;
    }
  | { readonly kind: "stream"; readonly name: "" }
  | { readonly kind: "failed"; readonly name: string; readonly error: unknown }
  | { readonly kind: "passed"; readonly name: string; readonly why: string };

export interface SourceOptions {
  readonly isRecursive: boolean;
  readonly filter: NameFilter;
  /** The data directory, which is never copied. */
  readonly except: string | undefined;
  /** The working directory. */
  readonly directory: string;
}

export interface Sources {
  /** Whether the names are relative to a folder or a prefix. */
  readonly isMany: boolean;
  readonly items: AsyncIterable<SourceItem>;
}

export async function findSources(side: Side, options: SourceOptions): Promise<Sources> {
  if (side.kind === "stream") return { isMany: false, items: once({ kind: "stream", name: "" }) };
  return side.kind === "path" ? findFiles(side.path, options) : findObjects(side, options);
}

async function* once(item: SourceItem): AsyncGenerator<SourceItem> {
  yield item;
}

async function findFiles(path: string, options: SourceOptions): Promise<Sources> {
  const { prefix, pattern } = splitPattern(path);
  const full = resolve(options.directory, prefix === "" ? "." : prefix);
  const found = await lstat(full).catch((error: unknown) => {
    throw fileError(error, "read", path);
  });
  if (pattern === undefined && !found.isDirectory()) {
    if (!found.isFile()) throw new CommandError(`"${path}" is not a regular file.`);
    return { isMany: false, items: once({ kind: "file", name: basename(full), path: full }) };
  }
  if (pattern === undefined && !options.isRecursive) {
    throw usageError(`"${path}" is a folder.`, "To copy everything in it, add --recursive.");
  }
  const folder = await realpath(full);
  return { isMany: true, items: walk(folder, { ...options, matches: toMatcher(pattern, options) }) };
}

async function* walk(
  folder: string,
  { except, matches }: SourceOptions & { readonly matches: NameFilter },
): AsyncGenerator<SourceItem> {
  for await (const entry of walkFolder({ folder, prefix: "", except })) {
    const name = entry.key;
    if (!matches(name)) continue;
    if (entry.kind === "file") yield { kind: "file", name, path: entry.path };
    else yield entry.kind === "failed" ? { ...entry, name } : { ...entry, name };
  }
}

/** A pattern without --recursive does not match keys of deeper folders, unless it has a **. */
function toMatcher(pattern: string | undefined, { filter }: SourceOptions): NameFilter {
  if (pattern === undefined) return filter;
  const matches = compilePattern(pattern);
  return (name) => matches(name) && filter(name);
}

async function findObjects(side: ObjectSide, options: SourceOptions): Promise<Sources> {
  const { store, bucket, text } = side;
  const { prefix, pattern } = splitPattern(side.key);
  if (bucket === "") throw usageError(`"${text}" has no bucket.`);
  if (pattern === undefined && !options.isRecursive) {
    if (prefix === "" || prefix.endsWith("/")) throw notAnObject(text);
    const address = { bucket, key: prefix };
    const record = await requireObject(store.engine, address, {}).catch(async (error: unknown) => {
      if (!(error instanceof StoreError && error.reason === "NoSuchKey"))
        throw toCommandError(error, address);
      const { objects } = await store.engine.list(bucket, { prefix: `${prefix}/`, limit: 1 });
      throw objects.length > 0 ? notAnObject(text) : toCommandError(error, address);
    });
    const name = prefix.slice(prefix.lastIndexOf("/") + 1);
    return { isMany: false, items: once({ kind: "object", name, side, record }) };
  }
  if ((await store.engine.bucket(bucket, [])) === undefined) {
    throw new CommandError(`There is no bucket "${bucket}".`, { hint: "List buckets: store bucket list" });
  }
  // Below "2026" means below the folder: not "2026-old".
  const below = pattern === undefined && prefix !== "" && !prefix.endsWith("/") ? `${prefix}/` : prefix;
  return { isMany: true, items: list({ ...side, key: below }, toMatcher(pattern, options)) };
}

function notAnObject(text: string): CommandError {
  return usageError(`"${text}" is not an object.`, "To work on everything below it, add --recursive.");
}

async function* list(side: ObjectSide, matches: NameFilter): AsyncGenerator<SourceItem> {
  const { store, bucket, key: prefix } = side;
  for await (const { key, record } of listObjects({ engine: store.engine, bucket, prefix })) {
    const name = key.slice(prefix.length);
    if (name !== "" && !isFolderMark(record) && matches(name)) yield { kind: "object", name, side, record };
  }
}
