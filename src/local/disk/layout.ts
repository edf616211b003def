// Where things are in a data directory. Keys never become paths: files are named by random ids alone.
//
//   registry.db                          which buckets there are
//   processes/<process>.lock             held by a living process, free once it is gone
//   buckets/<bucket>/records.db          everything known of the bucket's objects, and small bodies
//   buckets/<bucket>/blobs/<folder>/<n>  larger bodies, a file each
//   buckets/<bucket>/segments/<segment>  bodies of middle size, many in one file
//   buckets/<bucket>/open/               which process may still be writing into which folder or segment
//   buckets/<bucket>/pins/               bodies of several files that a process is reading
//   trash/                               deleted buckets on their way out
//   writer                               where the process listens that commits for others, if one does
//   audit.log                            who has changed what beside the objects, a line each
//   reserve                              space kept free so that deletes work on a full disk
//   restore.unfinished                   a backup is being brought back into it, or was until that was cut off
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { invariant } from "../../model/errors.ts";

export interface Layout {
  readonly root: string;
  readonly registry: string;
  readonly processes: string;
  readonly buckets: string;
  readonly trash: string;
  readonly reserve: string;
  readonly restoreMarker: string;
  /** Its name says how they speak behind it: a Store that speaks otherwise passes by and commits for itself. */
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
    commitServerFile: join(root, "writer-3"),
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

/** In a bucket's folder `open`: which process may still be writing into a folder or segment. */
export function markerName(folder: string, processName: string): string {
  return `${folder}.${processName}`;
}

const namePattern = /^[0-9a-f]{16}$/;

/** Whether it has the form of what `newName` makes: only such names may become parts of paths. */
export function isRandomName(name: unknown): name is string {
  return typeof name === "string" && namePattern.test(name);
}

/** A blob's id tells where it is; the bucket in it ties the blob to one life of a bucket's name. */
export interface BlobLocation {
  readonly bucketId: string;
  /** The folder of its file, or the segment it shares with others. */
  readonly folder: string;
  /** A number; or where in the segment it begins and how many bytes it has. */
  readonly file: string;
}

export function blobId({ bucketId, folder, file }: BlobLocation): string {
  return `${bucketId}.${folder}.${file}`;
}

/** With as many digits everywhere: the blobs of a segment are then known in the order of their places. */
export function segmentFile(offset: number, size: number): string {
  return `${offset.toString(16).padStart(8, "0")}-${size}`;
}

const blobIdPattern = /^([0-9a-f]{16})\.([0-9a-f]{16})\.(\d{1,9}|[0-9a-f]{8}-\d{1,9})$/;

export function parseBlobId(id: string): BlobLocation {
  const match = blobIdPattern.exec(id);
  invariant(match !== null, `"${id}" is a blob id`);
  return { bucketId: match[1]!, folder: match[2]!, file: match[3]! };
}

/** Whether the blob's id has its shape, is of this bucket, and fits its size where that is known. */
export function isValidBlobId(
  blob: { readonly id: string; readonly size?: number },
  bucketId: string,
): boolean {
  const match = blobIdPattern.exec(blob.id);
  if (match === null || match[1] !== bucketId) return false;
  const file = match[3]!;
  return !isSegmentFile(file) || blob.size === undefined || Number(file.slice(9)) === blob.size;
}

/** Where in its file a blob begins. */
export function blobOffset({ file }: BlobLocation): number {
  return isSegmentFile(file) ? Number.parseInt(file.slice(0, 8), 16) : 0;
}

/** How many bytes a blob in a segment has, without their checksums. */
export function segmentBlobSize({ file }: BlobLocation): number {
  return Number(file.slice(9));
}

export function isInSegment(id: string): boolean {
  return isSegmentFile(parseBlobId(id).file);
}

function isSegmentFile(file: string): boolean {
  return file[8] === "-";
}

/** Where a blob is while its deleted bucket waits for its readers. */
export function trashedBlobPath(layout: Layout, location: BlobLocation): string {
  return join(layout.trash, location.bucketId, pathInBucket(location));
}

export function blobPath(layout: Layout, location: BlobLocation): string {
  return join(layout.buckets, location.bucketId, pathInBucket(location));
}

function pathInBucket({ folder, file }: BlobLocation): string {
  return isSegmentFile(file) ? join("segments", folder) : join("blobs", folder, file);
}
