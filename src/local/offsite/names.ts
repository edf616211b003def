// Names of a backup's files in a repository. They contain random ids and numbers only, so the names
// of encrypted backups reveal no names of buckets or objects.
import type { StoredBlob } from "../../engine/blobs.ts";
import { blobsPrefix, snapshotsPrefix } from "../../repository/repository.ts";
import { parseBlobId } from "../disk/layout.ts";

export function bucketBlobsPrefix(bucketId: string): string {
  return `${blobsPrefix}${bucketId}/`;
}

export function blobName({ id }: StoredBlob): string {
  const { bucketId, folder, file } = parseBlobId(id);
  return `${bucketBlobsPrefix(bucketId)}${folder}/${file}`;
}

const blobNamePattern = /^(blobs\/[0-9a-f]{16}\/[0-9a-f]{16}\/(?:\d{1,9}|[0-9a-f]{8}-\d{1,9}))(?:\.\d{6})?$/;

/** Returns the name of the body that an object is a piece of. Undefined for other objects. */
export function parseBlobName(objectName: string): string | undefined {
  return blobNamePattern.exec(objectName)?.[1];
}

/** Returns the id of the snapshot that an object belongs to. Undefined for other objects. */
export function parseSnapshotName(objectName: string): string | undefined {
  return /^snapshots\/([0-9a-f]{16})\//.exec(objectName)?.[1];
}

export interface SnapshotNames {
  readonly prefix: string;
  readonly registry: string;
  database(bucketId: string): string;
  /** The names and sizes of all bodies of a bucket. */
  bodies(bucketId: string): string;
  companion(index: number): string;
}

export function snapshotNames(id: string): SnapshotNames {
  const prefix = `${snapshotsPrefix}${id}/`;
  return {
    prefix,
    registry: `${prefix}registry`,
    database: (bucketId) => `${prefix}${bucketId}.records`,
    bodies: (bucketId) => `${prefix}${bucketId}.bodies`,
    companion: (index) => `${prefix}companion-${index}`,
  };
}
