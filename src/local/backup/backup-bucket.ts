// Backs up one bucket: a snapshot of its records and every body they reference. The lease on the
// bucket keeps all bodies until they are copied, even if objects are overwritten or deleted.
import { closeSync, existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { forEachLimit } from "../../async/for-each-limit.ts";
import type { StoredBlob } from "../../engine/blobs.ts";
import { StoreError } from "../../model/errors.ts";
import { openDescriptor } from "../bytes/open-blob.ts";
import { blobOffset, bucketPaths, type Layout, parseBlobId } from "../disk/layout.ts";
import { privateFolder } from "../disk/private-files.ts";
import type { RegisteredBucket } from "../index/bucket-registry.ts";
import { openBucketDatabase } from "../index/migrations.ts";
import { createQueries } from "../index/queries/object-queries.ts";
import { blobChunks, inspectFile, type Watch } from "./copy-blob.ts";
import type { BackupLayout, SnapshotLayout } from "./layout.ts";
import type { BucketEntry } from "./manifest.ts";
import { copyDatabase, listContents, openSnapshot } from "./sqlite-snapshot.ts";

/** Maximum number of concurrent copies. Several keep the disk busy while some wait for a sync. */
const fileConcurrency = 8;

/** Where a backup stores the bodies of its buckets. */
export interface BodyTarget {
  openBucket(bucketId: string): Promise<BucketBodies>;
}

export interface BucketBodies {
  /** Whether the body is already stored. Called once for every body of the bucket. */
  has(blob: StoredBlob): Promise<boolean>;
  put(blob: StoredBlob, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /** Makes the bodies durable. */
  finish(): Promise<void>;
}

export interface BucketBackup {
  readonly source: Layout;
  /** Where the databases are copied to. */
  readonly backup: BackupLayout;
  readonly snapshot: SnapshotLayout;
  readonly bodies: BodyTarget;
  readonly watch: Watch;
  readonly counts: { copiedFiles: number; copiedBytes: number };
  /** Damage found in the store, not in the backup. */
  readonly damages: string[];
}

/** Backs up a bucket that the caller has leased. Returns undefined if the bucket was deleted. */
export async function backUpBucket(
  work: BucketBackup,
  bucket: RegisteredBucket,
): Promise<BucketEntry | undefined> {
  const { directory, database: to } = bucketPaths(work.snapshot, bucket.id);
  await mkdir(directory, { recursive: true, mode: privateFolder });
  await copyRecords(work, bucket.id, to);
  const database = openSnapshot(to);
  try {
    if (createQueries(database).isDeleted()) return undefined;
    const copied = await copyBodies(work, bucket, listContents(database));
    const { bytes } = createQueries(database).totals();
    return {
      name: bucket.name,
      id: bucket.id,
      bytes,
      ...copied,
      database: await inspectFile(to, () => {}, "sync"),
    };
  } finally {
    database.close();
  }
}

async function copyRecords({ source, watch }: BucketBackup, id: string, to: string): Promise<void> {
  const from = bucketPaths(source, id).database;
  try {
    // The snapshot must have the current schema, so migrate the source by opening it.
    openBucketDatabase(from, "reader").close();
    await copyDatabase(from, to, watch);
  } catch (error) {
    // Deleting a leased bucket moves it to the trash. If that happened while SQLite opened the
    // database, the error can be of any kind, so check only whether the file still exists.
    if (existsSync(from)) throw error;
    await copyDatabase(join(source.trash, id, "records.db"), to, watch);
  }
}

async function copyBodies(
  work: BucketBackup,
  { name, id }: RegisteredBucket,
  contents: ReturnType<typeof listContents>,
) {
  const { damages, watch } = work;
  const bodies = await work.bodies.openBucket(id);
  const counts = { objects: 0, files: 0, stored: 0 };
  await forEachLimit(contents, { concurrency: fileConcurrency }, async (found) => {
    if (found.kind === "damage") {
      damages.push(formatDamage(name, found.key, found.what));
    } else if (found.kind === "object") {
      counts.objects++;
      watch(found.inline);
    } else {
      counts.files++;
      counts.stored += found.blob.size;
      try {
        await copyBody(work, bodies, found.blob);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        damages.push(formatDamage(name, found.key, error.detail));
      }
    }
  });
  await bodies.finish();
  return counts;
}

function formatDamage(bucket: string, key: string | undefined, what: string): string {
  return key === undefined ? `bucket "${bucket}": ${what}` : `"${bucket}/${key}": ${what}`;
}

async function copyBody(
  { source, watch, counts }: BucketBackup,
  bodies: BucketBodies,
  blob: StoredBlob,
): Promise<void> {
  if (await bodies.has(blob)) return watch(blob.size);
  const descriptor = await openDescriptor(source, parseBlobId(blob.id));
  if (descriptor === undefined) {
    throw new StoreError("Damaged", {
      detail: `The stored data is damaged: blob ${blob.id} is missing.`,
    });
  }
  try {
    const start = blobOffset(parseBlobId(blob.id));
    await bodies.put(blob, blobChunks({ descriptor, start }, blob, watch));
  } finally {
    closeSync(descriptor);
  }
  counts.copiedFiles++;
  counts.copiedBytes += blob.size;
}
