// Walks over all records of a store page by page, for operations on their encryption.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { VersionPosition } from "../../model/listing.ts";
import type { ObjectRecord } from "../../model/object.ts";
import type { UploadRecord } from "../../model/upload.ts";
import { isDeleteMarker } from "../../model/version.ts";
import type { Context } from "../context.ts";
import { everyUpload } from "../uploads/listing.ts";

/** Position in a walk: everything up to it is done. */
export interface EncryptionPosition {
  readonly bucket: string;
  /** Undefined: at the start of the bucket. */
  readonly after?: VersionPosition | undefined;
}

export interface EncryptionPage {
  readonly bucket: string;
  readonly versions: readonly ObjectRecord[];
  /** The position after this page. */
  readonly position: EncryptionPosition;
}

const pageSize = 200;

/** Yields the object versions of all buckets and namespaces, in order of bucket and key. */
export async function* walkVersions(
  context: Context,
  from: EncryptionPosition | undefined,
  only?: string,
): AsyncGenerator<EncryptionPage> {
  const names = only === undefined ? await bucketNames(context) : [only];
  for (const bucket of names) {
    if (from !== undefined && bucket < from.bucket) continue;
    yield* walkBucketVersions(context, bucket, bucket === from?.bucket ? from.after : undefined);
  }
}

export async function bucketNames({ records }: Context): Promise<readonly string[]> {
  return (await records.buckets()).map(({ name }) => name).sort();
}

async function* walkBucketVersions(
  context: Context,
  bucket: string,
  start: VersionPosition | undefined,
): AsyncGenerator<EncryptionPage> {
  let after = start;
  do {
    const page = await unlessDeleted(context, bucket, () =>
      context.records.versions(bucket, { prefix: "", delimiter: "", after, limit: pageSize }),
    );
    if (page === undefined) return;
    const versions = page.entries.flatMap((entry) => {
      if (!("record" in entry) || isDeleteMarker(entry.record.version)) return [];
      return [entry.record.version];
    });
    after = page.next;
    yield { bucket, versions, position: { bucket, after } };
    // Let pending requests run between pages.
    await nextTurn();
  } while (after !== undefined);
}

/** Returns undefined if the bucket was deleted meanwhile. */
export async function unlessDeleted<T>(
  { records }: Context,
  bucket: string,
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if ((await records.bucket(bucket)) === undefined) return undefined;
    throw error;
  }
}

export async function activeUploads(context: Context, bucket: string): Promise<readonly UploadRecord[]> {
  const found = await unlessDeleted(context, bucket, async () => {
    const uploads: UploadRecord[] = [];
    for await (const upload of everyUpload(context, bucket)) {
      if (upload.state === "active") uploads.push(upload);
    }
    return uploads;
  });
  return found ?? [];
}
