// The manifest of a Workers Site: for each path of the folder, the name by which the script reads the
// file. Libraries use the names as etags and as keys of caches, so a name contains a hash of the
// file: directory/name.HASH.extension.
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { posix } from "node:path";
import { forEachLimit } from "../../async/for-each-limit.ts";
import type { Location } from "../../model/names/location.ts";
import type { ScriptConfig } from "../config/config.ts";
import { siteBinding, siteManifestName } from "../config/wrangler/site-names.ts";
import { AssetsError, type DirectoryOptions, isGone, readAssetDirectory } from "./asset-directory.ts";

export interface ScriptSite {
  /** The configuration, with the manifest as a variable if the script has a site. */
  readonly config: ScriptConfig;
  /** Absolute paths of all folders of the site, in which a change makes another manifest. */
  readonly folders: readonly string[];
}

const hashLength = 10;
/** The platform's limit of a file. Larger files are recognized by size and time, not by content. */
const maxHashedBytes = 25 * 1024 * 1024;
/** The manifest is sent to each process of the script. */
const maxManifestBytes = 4 * 1024 * 1024;
const concurrentFiles = 8;

/** Throws an AssetsError when the folder cannot be served. */
export async function withSiteManifest(config: ScriptConfig, location: Location): Promise<ScriptSite> {
  const { assets, vars } = config;
  if (assets?.binding !== siteBinding) return { config, folders: [] };
  const { text, folders } = await readSiteManifest({ ...assets, location });
  return { config: { ...config, vars: { ...vars, [siteManifestName]: text } }, folders };
}

async function readSiteManifest(options: DirectoryOptions) {
  const { files, folders } = await readAssetDirectory(options);
  const hashes = new Map<string, string>();
  await forEachLimit(files, { concurrency: concurrentFiles }, async ([path, { file }]) => {
    const hash = await hashFile(file);
    if (hash !== undefined) hashes.set(path.slice(1), hash);
  });
  const paths = [...hashes.keys()].sort();
  const names = paths.map((path) => [path, siteName(path, hashes.get(path)!)] as const);
  const text = JSON.stringify(Object.fromEntries(names));
  if (Buffer.byteLength(text) > maxManifestBytes) {
    throw new AssetsError(
      `The site ${options.directory} has too many files: its manifest is larger than 4 MiB. ` +
        "Serve them as assets, which need no manifest.",
    );
  }
  return { text, folders };
}

function siteName(path: string, hash: string): string {
  const { dir, name, ext } = posix.parse(path);
  return posix.join(dir, `${name}.${hash}${ext}`);
}

/** Undefined when the file was removed in the meantime. */
async function hashFile(file: string): Promise<string | undefined> {
  const hash = createHash("sha256");
  try {
    const { size, mtimeMs } = await stat(file);
    if (size > maxHashedBytes) hash.update(`${size} ${mtimeMs}`);
    else for await (const piece of createReadStream(file)) hash.update(piece as Uint8Array);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
  return hash.digest("hex").slice(0, hashLength);
}

/** Paths that may be meant by a name: the name itself, and without the hash of a manifest. */
export function sitePaths(name: string): readonly string[] {
  const path = name.replace(/\.[0-9a-f]{10}(?=(?:\.[^./]*)?$)/, "");
  return path === name ? [name] : [name, path];
}
