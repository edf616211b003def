// The manifest of a backup: its files with their sizes and digests, then a checksum of the manifest
// itself. It atomically replaces the previous manifest when all listed files are durable.
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { rename } from "node:fs/promises";
import { BackupError, type BackupSummary } from "../../model/backup.ts";
import { isMissing } from "../disk/errors.ts";
import { syncDirectory } from "../disk/fsync-directory.ts";
import { writeWhole } from "./copy-blob.ts";
import type { BackupLayout } from "./layout.ts";
import { createLinkCheck } from "./links.ts";
import { checkManifestShape } from "./shape.ts";

export interface FileEntry {
  readonly bytes: number;
  readonly sha256: string;
}

export interface BucketEntry {
  readonly name: string;
  readonly id: string;
  readonly objects: number;
  /** Total size of all objects. */
  readonly bytes: number;
  /** Number of body files; `stored` is their total size without checksums. */
  readonly files: number;
  readonly stored: number;
  readonly database: FileEntry;
}

export interface Manifest {
  readonly format: 1;
  readonly made: number;
  readonly snapshot: string;
  readonly registry: FileEntry;
  readonly companions: readonly (FileEntry & { readonly name: string })[];
  readonly elsewhere: readonly string[];
  readonly buckets: readonly BucketEntry[];
  /** HMAC made with the store's secret key, if the store has a key (authentication.ts). */
  readonly authentication?: string;
}

/** The checksum distinguishes this manifest from every other manifest in the same folder. */
export type SealedManifest = Manifest & { readonly checksum: string };

function computeChecksum(manifest: Partial<Manifest>): string {
  return createHash("sha256").update(JSON.stringify(manifest)).digest("hex");
}

export async function writeManifest(backup: BackupLayout, manifest: Manifest): Promise<void> {
  const sealed: SealedManifest = { ...manifest, checksum: computeChecksum(manifest) };
  const partial = `${backup.manifest}.partial`;
  await writeWhole(partial, Buffer.from(`${JSON.stringify(sealed, undefined, 1)}\n`));
  await rename(partial, backup.manifest);
  await syncDirectory(backup.root);
}

/** Returns undefined if there is no manifest. */
export function readManifest(backup: BackupLayout): SealedManifest | undefined {
  let text: string;
  try {
    createLinkCheck(backup.root)(backup.manifest);
    text = readFileSync(backup.manifest, "utf8");
  } catch (error) {
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
    throw error;
  }
  return parseManifest(text, backup.manifest);
}

/** Returns the manifest. If there is none, throws an error that states the reason. */
export function requireManifest(backup: BackupLayout): SealedManifest {
  const manifest = readManifest(backup);
  if (manifest !== undefined) return manifest;
  if (!existsSync(backup.root)) throw new BackupError(`There is no backup at "${backup.root}".`);
  if (existsSync(backup.blobs) || existsSync(backup.snapshots)) {
    throw new BackupError(`The backup at "${backup.root}" was never finished: it has no manifest.json.`, [
      "Run store backup to the same folder again: it resumes where it stopped.",
    ]);
  }
  throw new BackupError(`There is no backup at "${backup.root}": it has no manifest.json.`);
}

export function toSummary(manifest: Manifest): BackupSummary {
  const { made, buckets, companions, elsewhere } = manifest;
  const sum = (count: (bucket: BucketEntry) => number) => buckets.reduce((all, one) => all + count(one), 0);
  return {
    made,
    buckets: buckets.length,
    objects: sum(({ objects }) => objects),
    bytes: sum(({ bytes }) => bytes),
    files: sum(({ files }) => files),
    companions: companions.map(({ name }) => name),
    elsewhere,
  };
}

function parseManifest(text: string, path: string): SealedManifest {
  let sealed: Partial<SealedManifest> | null;
  try {
    sealed = JSON.parse(text) as Partial<SealedManifest> | null;
  } catch (cause) {
    throw new BackupError(`The backup is damaged: "${path}" is not JSON.`, [], cause);
  }
  const { checksum, ...manifest } = sealed ?? {};
  if (checksum !== computeChecksum(manifest)) {
    throw new BackupError(`The backup is damaged: "${path}" does not match its checksum.`);
  }
  if (manifest.format !== 1) {
    throw new BackupError(
      `The backup has format ${String(manifest.format)}, which this Store does not know.`,
      ["Use the Store that made it, or a newer one."],
    );
  }
  return { ...checkManifestShape(manifest, path), checksum };
}
