// Rows outside of the records of objects and uploads, each with a checksum over all that it says: buckets in the
// registry, documents, settings, and what is buried.
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

export interface DocumentRow {
  readonly kind: string;
  readonly name: string;
  readonly text: string;
  readonly revision: number;
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

/** With the version that the list of parts belonged to: another's list in its place is noticed. */
export function garbageManifestChecksum(manifest: number, version: string): string {
  return withTextChecksum(version, String(manifest));
}
