// Paths in a data directory. Keys never become paths: files have random names only.
//
//   registry.db                          the list of buckets
//   processes/<process>.lock             locked by a live process, free once it has ended
//   buckets/<bucket>/records.db          the records of the bucket, and small bodies
//   buckets/<bucket>/blobs/<folder>/<n>  larger bodies, a file each
//   buckets/<bucket>/segments/<segment>  medium-sized bodies, many in one file
//   buckets/<bucket>/open/               markers: a process may write into a folder or segment
//   buckets/<bucket>/pins/               pins: a process is reading a body of several files
//   trash/                               deleted buckets that are still to be removed
//   writer-4                             path of the socket of the process that commits for others
//   audit.log                            administrative changes, one line each
//   audit.log.<n>                        a full audit.log, with the number of its last entry
//   audit.log.aside.<id>                 entries that are to be appended once the lock is free
//   audit.log.head, .lock, .limit        its last entry, the lock of its writers, its maximum size
//   reserve                              space kept free so that deletes work on a full disk
//   last-backup.json                     time and target of the latest backup
//   backup.staging/                      databases on their way to a backup on an S3 service
//   restore.unfinished                   present until a restore into this directory is complete
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { StoreError } from "../../model/errors.ts";

export interface Layout {
  readonly root: string;
  readonly registry: string;
  readonly processes: string;
  readonly buckets: string;
  readonly trash: string;
  readonly reserve: string;
  readonly restoreMarker: string;
  /** The name contains the protocol version, so processes with another version do not connect. */
  readonly commitServerFile: string;
  readonly auditLog: string;
}

export function dataLayout(root: string): Layout {
  return {
    root,
    registry: join(root, "registry.db"),
    processes: join(root, "processes"),
    buckets: join(root, "buckets"),
    trash: join(root, "trash"),
    reserve: join(root, "reserve"),
    restoreMarker: join(root, "restore.unfinished"),
    commitServerFile: join(root, "writer-4"),
    auditLog: join(root, "audit.log"),
  };
}

export interface BucketPaths {
  readonly directory: string;
  readonly database: string;
  readonly blobs: string;
  readonly segments: string;
  readonly open: string;
  readonly pins: string;
}

export function bucketPaths(layout: Layout, bucketId: string): BucketPaths {
  return bucketPathsIn(join(layout.buckets, bucketId));
}

export function bucketPathsIn(directory: string): BucketPaths {
  return {
    directory,
    database: join(directory, "records.db"),
    blobs: join(directory, "blobs"),
    segments: join(directory, "segments"),
    open: join(directory, "open"),
    pins: join(directory, "pins"),
  };
}

export function randomName(): string {
  return randomBytes(8).toString("hex");
}

/** Name of a marker in a bucket's `open` folder: the process may write to the folder or segment. */
export function markerName(folder: string, processName: string): string {
  return `${folder}.${processName}`;
}

const namePattern = /^[0-9a-f]{16}$/;

/** Whether the name has the form of `randomName`. Only such names may become parts of paths. */
export function isRandomName(name: unknown): name is string {
  return typeof name === "string" && namePattern.test(name);
}

/** Location of a blob, encoded in its id. Bucket ids are never reused, even if bucket names are. */
export interface BlobLocation {
  readonly bucketId: string;
  /** The folder of the blob's file, or the segment that contains the blob. */
  readonly folder: string;
  /** The file's number in its folder. In a segment: the blob's offset and size. */
  readonly file: string;
}

export function blobId({ bucketId, folder, file }: BlobLocation): string {
  return `${bucketId}.${folder}.${file}`;
}

/** Formats offset and size. The offset has a fixed number of digits, so that ids sort by offset. */
export function segmentFile(offset: number, size: number): string {
  return `${offset.toString(16).padStart(8, "0")}-${size}`;
}

const blobIdPattern = /^([0-9a-f]{16})\.([0-9a-f]{16})\.(\d{1,9}|[0-9a-f]{8}-\d{1,9})$/;

export function parseBlobId(id: string): BlobLocation {
  const match = blobIdPattern.exec(id);
  if (match === null) {
    throw new StoreError("Damaged", { detail: `The stored data is damaged: "${id}" does not name a blob.` });
  }
  return { bucketId: match[1]!, folder: match[2]!, file: match[3]! };
}

/** Whether the id is well formed, belongs to the bucket, and has the given size, if any. */
export function isValidBlobId(
  blob: { readonly id: string; readonly size?: number },
  bucketId: string,
): boolean {
  const match = blobIdPattern.exec(blob.id);
  if (match === null || match[1] !== bucketId) return false;
  const file = match[3]!;
  return !isSegmentFile(file) || blob.size === undefined || Number(file.slice(9)) === blob.size;
}

/** Returns the offset of the blob in its file. */
export function blobOffset({ file }: BlobLocation): number {
  return isSegmentFile(file) ? Number.parseInt(file.slice(0, 8), 16) : 0;
}

/** Returns the size of a blob in a segment, without checksums. */
export function segmentBlobSize({ file }: BlobLocation): number {
  return Number(file.slice(9));
}

export function isInSegment(id: string): boolean {
  return isSegmentFile(parseBlobId(id).file);
}

export function isSegmentFile(file: string): boolean {
  return file[8] === "-";
}

/** Path of a blob whose deleted bucket stays in the trash until its readers are done. */
export function trashedBlobPath(layout: Layout, location: BlobLocation): string {
  return join(layout.trash, location.bucketId, pathInBucket(location));
}

export function blobPath(layout: Layout, location: BlobLocation): string {
  return join(layout.buckets, location.bucketId, pathInBucket(location));
}

function pathInBucket({ folder, file }: BlobLocation): string {
  return isSegmentFile(file) ? join("segments", folder) : join("blobs", folder, file);
}
