// Checks the shape of a backup's manifest. Its names and ids become paths, so every field is
// checked first: an attacker who changed the backup must not choose where files are written.
import { BackupError } from "../../model/backup.ts";
import { checkBucketName } from "../../model/bucket.ts";
import { parseNamespaceBucket } from "../../model/key-value.ts";
import { isCount, isFields } from "../../model/shape.ts";
import { isRandomName } from "../disk/layout.ts";
import type { BucketEntry, FileEntry, Manifest } from "./manifest.ts";

/** Companions are key files; no other file of a store matches this pattern. */
const companionName = /^[a-z][a-z0-9-]{0,31}\.key$/;
const sha256Digest = /^[0-9a-f]{64}$/;

/** A field of a manifest is not what Store writes there. */
export class ManifestShapeError extends BackupError {}

/** Returns the value as a manifest. Throws a ManifestShapeError if a field has the wrong shape. */
export function checkManifestShape(value: unknown, path: string): Manifest {
  const wrong = (field: string) =>
    new ManifestShapeError(
      `The backup is not valid: "${field}" in "${path}" is not what Store writes there.`,
      ["The manifest was damaged or changed. Use another copy of the backup."],
    );
  const check = (isValid: boolean, field: string) => {
    if (!isValid) throw wrong(field);
  };
  check(isFields(value), "manifest");
  const manifest = value as Manifest;
  check(isCount(manifest.made), "made");
  check(isRandomName(manifest.snapshot), "snapshot");
  check(isFile(manifest.registry), "registry");
  check(isList(manifest.companions, isCompanion), "companions");
  check(isList(manifest.elsewhere, isCompanionName), "elsewhere");
  check(isList(manifest.buckets, isBucket), "buckets");
  const ids = new Set(manifest.buckets.map(({ id }) => id));
  check(ids.size === manifest.buckets.length, "buckets");
  const { authentication } = manifest;
  check(authentication === undefined || isDigest(authentication), "authentication");
  return manifest;
}

function isList(value: unknown, isEntry: (entry: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isEntry);
}

function isDigest(value: unknown): boolean {
  return typeof value === "string" && sha256Digest.test(value);
}

function isCompanionName(value: unknown): boolean {
  return typeof value === "string" && companionName.test(value);
}

function isFile(value: unknown): boolean {
  if (!isFields(value)) return false;
  const { bytes, sha256 } = value as { [name in keyof FileEntry]: unknown };
  return isCount(bytes) && isDigest(sha256);
}

function isCompanion(value: unknown): boolean {
  return isFile(value) && isCompanionName((value as { name?: unknown }).name);
}

function isBucket(value: unknown): boolean {
  if (!isFields(value)) return false;
  const { name, id, database, ...counts } = value as { [name in keyof BucketEntry]: unknown };
  const { objects, bytes, files, stored } = counts;
  return (
    isBucketName(name) &&
    isRandomName(id) &&
    isFile(database) &&
    [objects, bytes, files, stored].every(isCount)
  );
}

function isBucketName(name: unknown): boolean {
  if (typeof name !== "string") return false;
  if (parseNamespaceBucket(name) !== undefined) return true;
  try {
    checkBucketName(name);
    return true;
  } catch {
    return false;
  }
}
