// The index of an assets directory: its files by URL path. Requests are only looked up in this
// index, so no part of a request becomes a file path.
import { constants } from "node:fs";
import { type FileHandle, open, readdir, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { performance } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";
import { guessContentType } from "../../http/content-types.ts";
import { errorMessage } from "../../model/errors.ts";
import type { Location } from "../../model/names/location.ts";
import type { AssetsOptions } from "../bindings.ts";
import { parseIgnorePatterns } from "./ignore-patterns.ts";
import { findPrivatePaths, isWithin } from "./private-paths.ts";
import { type HeaderRule, parseHeaders } from "./rules/parse-headers.ts";
import { parseRedirects, type Redirects } from "./rules/parse-redirects.ts";
import type { RuleFault } from "./rules/rule-lines.ts";

export interface AssetFile {
  /** Absolute path without symbolic links. */
  readonly file: string;
  readonly contentType: string | undefined;
}

export interface AssetDirectory {
  /** Files by decoded URL path, such as `/blog/index.html`. */
  readonly files: ReadonlyMap<string, AssetFile>;
  /** Absolute paths of all folders; the first is the directory itself. */
  readonly folders: readonly string[];
  readonly headers: readonly HeaderRule[];
  readonly redirects: Redirects;
  /** Warnings about malformed lines, and about links to files outside the directory. */
  readonly warnings: readonly string[];
}

/** Files that configure how assets are served, and are not served themselves. */
const ruleFiles = ["_headers", "_redirects", ".assetsignore"] as const;
export const maxAssets = 100_000;
const maxRuleFileBytes = 1024 * 1024;

const turnMilliseconds = 10;

export class AssetsError extends Error {
  override readonly name = "AssetsError";
}

export interface DirectoryOptions extends Pick<AssetsOptions, "directory" | "htmlHandling"> {
  /** Location of the store, whose data is never served. */
  readonly location: Location;
}

/** Throws an AssetsError when the directory cannot be served. */
export async function readAssetDirectory(options: DirectoryOptions): Promise<AssetDirectory> {
  const { directory, htmlHandling, location } = options;
  const root = await realpath(directory).catch((error: unknown) => {
    throw new AssetsError(`The assets directory ${directory} cannot be read: ${errorMessage(error)}`);
  });
  const privatePaths = await findPrivatePaths(location);
  if (privatePaths.dataDirectory !== undefined && isWithin(root, privatePaths.dataDirectory)) {
    throw new AssetsError(`The assets directory ${directory} is in the data directory: move it elsewhere.`);
  }
  const warnings: string[] = [];
  const warn = (name: string, faults: readonly RuleFault[]) =>
    warnings.push(...faults.map(({ line, message }) => `${join(directory, name)}:${line}: ${message}`));
  const ignored = parseIgnorePatterns(await readRuleFile(join(root, ".assetsignore"), warnings));
  warn(".assetsignore", ignored.faults);
  const redirects = parseRedirects(await readRuleFile(join(root, "_redirects"), warnings), htmlHandling);
  warn("_redirects", redirects.faults);
  const headers = parseHeaders(await readRuleFile(join(root, "_headers"), warnings));
  warn("_headers", headers.faults);

  const files = new Map<string, AssetFile>();
  const folders = [root];
  let turned = performance.now();
  for (const folder of folders) {
    for (const entry of await readEntries(folder)) {
      // Each file is compared with each pattern, and other scripts run in this process.
      if (performance.now() - turned > turnMilliseconds) {
        await setImmediate();
        turned = performance.now();
      }
      const file = join(folder, entry.name);
      const path = file
        .slice(root.length + (root === sep ? 0 : 1))
        .split(sep)
        .join("/");
      if (ruleFiles.some((name) => name === path)) continue;
      if (ignored.ignores(path, entry.isDirectory() ? "folder" : "file")) continue;
      if (privatePaths.has(file)) warnings.push(`${join(directory, path)}: ${privateWarning}`);
      else if (entry.isDirectory()) folders.push(file);
      else if (entry.isFile()) files.set(`/${path}`, { file, contentType: guessContentType(path) });
      else if (entry.isSymbolicLink()) {
        const target = await linkTarget(file, root);
        if (target === undefined || privatePaths.has(target))
          warnings.push(`${join(directory, path)}: ${linkWarning}`);
        else files.set(`/${path}`, { file: target, contentType: guessContentType(path) });
      }
      if (files.size > maxAssets) {
        throw new AssetsError(
          `The assets directory ${directory} has more than ${maxAssets.toLocaleString("en-US")} files. ` +
            "List files that need not be served in .assetsignore.",
        );
      }
    }
  }
  return { files, folders, headers: headers.rules, redirects, warnings };
}

const privateWarning = "not served: it holds the store's data or secrets. Serve a folder of its own instead.";
const linkWarning =
  "not served: a symbolic link must lead to a file in the assets directory. Copy the file instead.";

/** Resolves a symbolic link; undefined when its target is not a file in the directory. */
async function linkTarget(link: string, root: string): Promise<string | undefined> {
  try {
    const target = await realpath(link);
    if (!isWithin(target, root)) return undefined;
    return (await stat(target)).isFile() ? target : undefined;
  } catch {
    return undefined;
  }
}

/** Returns an empty list for a folder that was removed in the meantime. */
async function readEntries(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isGone(error)) return [];
    throw new AssetsError(`The assets folder ${folder} cannot be read: ${errorMessage(error)}`);
  }
}

async function readRuleFile(file: string, warnings: string[]): Promise<string> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const stats = await handle.stat();
    if (stats.isFile() && stats.size <= maxRuleFileBytes) return await handle.readFile("utf8");
    warnings.push(`${file}: ignored: it must be a file of at most ${maxRuleFileBytes} bytes.`);
    return "";
  } catch (error) {
    if (isGone(error)) return "";
    throw new AssetsError(`${file} cannot be read: ${errorMessage(error)}`);
  } finally {
    await handle?.close();
  }
}

export function isGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR";
}
