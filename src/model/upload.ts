// Multipart uploads: the records of an upload and its parts, and when an upload ends.
import { createHash } from "node:crypto";
import type { UploadChecksum } from "./checksums/checksum.ts";
import type { Key } from "./key.ts";
import { limits } from "./limits.ts";
import type { Checksums, Metadata } from "./object.ts";

export type UploadState = "active" | "completed" | "aborted";

export interface UploadRecord extends Metadata {
  readonly key: Key;
  readonly id: string;
  /** Creation time in milliseconds since the epoch. */
  readonly created: number;
  readonly state: UploadState;
  /** Time when an active upload is aborted, or an ended upload is removed. */
  readonly due: number;
  /** The checksum that every part and the object must have. */
  readonly checksum?: UploadChecksum;
  /** The caller that created the upload, if it may use only its own uploads. */
  readonly initiator?: string;
  /** The object version that completing the upload created. */
  readonly result?: { readonly version: string; readonly etag: string };
}

export interface PartRecord {
  readonly number: number;
  /** Size of the part as sent. */
  readonly size: number;
  readonly etag: string;
  readonly uploaded: number;
  readonly blob: string;
  /** Size of the part as stored, which is larger than `size` if the part is encrypted. */
  readonly stored: number;
  /** Checksums that were requested in addition to the etag. */
  readonly checksums?: Checksums;
}

/** A part that was just stored. */
export interface UploadedPart extends PartRecord {
  /** Whether it is encrypted with the store's key. */
  readonly isStoreEncrypted?: true;
}

/** Whether the upload is active. An overdue upload is not, even before the sweep aborts it. */
export function isActive(upload: UploadRecord, now: number): boolean {
  return upload.state === "active" && now < upload.due;
}

export function endUpload(upload: UploadRecord, state: "completed" | "aborted", now: number): UploadRecord {
  return { ...upload, state, due: now + limits.endedUploadRetention };
}

/** Returns the S3 etag of a multipart object: `md5(concatenated raw part md5s)-N`. */
export function multipartEtag(partEtags: readonly string[]): string {
  const hash = createHash("md5");
  for (const etag of partEtags) hash.update(etag, "hex");
  return `${hash.digest("hex")}-${partEtags.length}`;
}
