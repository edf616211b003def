// The manifest of a backup in a repository: as in a folder, and the digests of the lists of bodies,
// by which bodies that no backup needs are found without opening databases.
import { createHash } from "node:crypto";
import { BackupError } from "../../model/backup.ts";
import { StoreError } from "../../model/errors.ts";
import { isCount, isFields } from "../../model/shape.ts";
import type { BackupRef, Repository } from "../../repository/repository.ts";
import type { FileEntry, Manifest } from "../backup/manifest.ts";
import { checkManifestShape, ManifestShapeError } from "../backup/shape.ts";
import { isRandomName } from "../disk/layout.ts";

export interface BodyList extends FileEntry {
  /** Id of the bucket. */
  readonly id: string;
}

export interface OffsiteManifest extends Manifest {
  readonly lists: readonly BodyList[];
}

/** The checksum identifies the backup in the marker of an unfinished restore. */
export type FetchedManifest = OffsiteManifest & { readonly checksum: string };

export async function fetchManifest(repository: Repository, backup: BackupRef): Promise<FetchedManifest> {
  const { manifest, checksum } = await readChecked(repository, backup);
  const { lists } = manifest;
  const isValid = manifest.format === 1 && Array.isArray(lists) && lists.every(isBodyList);
  const hasAll = isValid && manifest.buckets.every(({ id }) => lists.some((list) => list.id === id));
  // A manifest under another name would replace the bodies and the time of another backup.
  if (!hasAll || manifest.snapshot !== backup.id || manifest.made !== backup.time) {
    throw invalid(backup, "Its manifest is not what Store writes there.", undefined);
  }
  return { ...manifest, checksum };
}

async function readChecked(repository: Repository, backup: BackupRef) {
  try {
    const manifest = checkManifestShape(
      await repository.readManifest(backup),
      backup.name,
    ) as OffsiteManifest;
    return { manifest, checksum: createHash("sha256").update(JSON.stringify(manifest)).digest("hex") };
  } catch (error) {
    if (error instanceof StoreError) throw invalid(backup, error.detail, error);
    if (error instanceof ManifestShapeError) throw invalid(backup, error.message, error);
    // No JSON, or nested too deeply.
    const isUnreadable = error instanceof SyntaxError || error instanceof RangeError;
    throw isUnreadable ? invalid(backup, "Its manifest cannot be read.", error) : error;
  }
}

function isBodyList(value: unknown): value is BodyList {
  if (!isFields(value)) return false;
  const { id, bytes, sha256 } = value;
  return isRandomName(id) && isCount(bytes) && typeof sha256 === "string" && /^[0-9a-f]{64}$/.test(sha256);
}

/** The manifest of one backup cannot be used; other backups may be whole. */
export class DamagedManifest extends BackupError {}

function invalid({ name }: BackupRef, why: string, cause: unknown): DamagedManifest {
  const hint = "Use another backup: store backup list --from s3://host:port/bucket/prefix";
  return new DamagedManifest(`The backup ${name} cannot be used: ${why}`, [hint], cause);
}
