// Multipart uploads: the records of an upload and its parts, and when an upload ends.
import { createHash } from "node:crypto";
import type { UploadChecksum } from "./checksum.ts";
import type { Key } from "./key.ts";
import { limits } from "./limits.ts";
import type { Checksums, Metadata } from "./object.ts";

export type UploadState = "active" | "completed" | "aborted";

export interface UploadRecord extends Metadata {
  readonly key: Key;
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly state: UploadState;
  /** When an active upload is aborted, or an ended one is removed. */
  readonly due: number;
  /** The checksum of every part and of the object. */
  readonly checksum?: UploadChecksum;
  /** The version that a completed upload became. */
  readonly result?: { readonly version: string; readonly etag: string };
}

export interface PartRecord {
  readonly number: number;
  /** Bytes as the sender counts them. */
  readonly size: number;
  readonly etag: string;
  readonly uploaded: number;
  readonly blob: string;
  /** Bytes as stored: more than `size` when encrypted. */
  readonly stored: number;
  /** Checksums that were requested in addition to the etag. */
  readonly checksums?: Checksums;
}

/** An upload that is due counts as aborted at once, before the sweep aborts it. */
export function isActive(upload: UploadRecord, now: number): boolean {
  return upload.state === "active" && now < upload.due;
}

export function endUpload(upload: UploadRecord, state: "completed" | "aborted", now: number): UploadRecord {
  return { ...upload, state, due: now + limits.endedUploadRetention };
}

/** `md5(concatenated raw part md5s)-N` */
export function multipartEtag(partEtags: readonly string[]): string {
  const hash = createHash("md5");
  for (const etag of partEtags) hash.update(etag, "hex");
  return `${hash.digest("hex")}-${partEtags.length}`;
}
