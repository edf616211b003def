// Checksums of the rows that are not records of objects or uploads: buckets in the registry,
// documents, settings and the garbage queue.
import type { Document } from "../../engine/records.ts";
import { withTextChecksum } from "./checksum.ts";

export interface BucketRow {
  readonly name: string;
  readonly id: string;
  readonly created: number;
  readonly storage_class: string;
  readonly account: string;
}

export function bucketChecksum({ name, id, created, storage_class, account }: BucketRow): string {
  return withTextChecksum("", JSON.stringify([name, id, created, storage_class, account]));
}

export interface DocumentRow extends Document {
  readonly kind: string;
}

export function documentContext({ kind, name, revision }: Omit<DocumentRow, "text">): string {
  return JSON.stringify([kind, name, revision]);
}

export function documentText(row: DocumentRow): string {
  return withTextChecksum(row.text, documentContext(row));
}

export function settingText(name: string, text: string): string {
  return withTextChecksum(text, name);
}

export function garbageBlobChecksum(blob: string): string {
  return withTextChecksum("", blob);
}

/** Also covers the version of the object that owned the parts, so that another list is refused. */
export function garbageManifestChecksum(manifest: number, version: string): string {
  return withTextChecksum(version, String(manifest));
}
