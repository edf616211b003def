// Multipart uploads: what is known of one, of its parts, and when it is over.
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
  /** When an active upload is aborted by itself, or an ended one forgotten. */
  readonly due: number;
  /** The checksum every part carries, and the object will. */
  readonly checksum?: UploadChecksum;
  /** What a completed upload became. */
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
  /** Those that were asked for beside the etag. */
  readonly checksums?: Checksums;
}

/** An upload whose time is up counts as aborted from that instant, whenever the sweep comes by. */
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
