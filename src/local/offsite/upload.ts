// Uploads the databases of a backup and the lists of its bodies, and checks that everything that the
// manifest will name is stored.
import { Buffer } from "node:buffer";
import { join } from "node:path";
import { BackupError } from "../../model/backup.ts";
import { blobsPrefix, type Repository } from "../../repository/repository.ts";
import { readChunks, type Watch, writeChunks } from "../backup/copy-blob.ts";
import type { SnapshotLayout } from "../backup/layout.ts";
import type { FileEntry, Manifest } from "../backup/manifest.ts";
import { bucketPaths } from "../disk/layout.ts";
import type { BodyIndex } from "./body-index.ts";
import type { BodyList, OffsiteManifest } from "./manifest.ts";
import { bucketBlobsPrefix, snapshotNames } from "./names.ts";

export interface SnapshotUpload {
  readonly repository: Repository;
  readonly index: BodyIndex;
  readonly snapshot: SnapshotLayout;
  readonly content: Manifest;
  readonly watch: Watch;
}

export async function uploadSnapshot(upload: SnapshotUpload): Promise<BodyList[]> {
  const { repository, index, snapshot, content, watch } = upload;
  const lists: BodyList[] = [];
  for (const { id } of content.buckets) {
    const path = join(bucketPaths(snapshot, id).directory, "bodies");
    lists.push({ id, ...(await writeChunks(path, listLines(index, id))) });
  }
  for (const { name, entry, path } of snapshotFiles(snapshot, { ...content, lists })) {
    await repository.files.write(
      name,
      entry.bytes,
      readChunks(path, () => watch(0)),
    );
  }
  return lists;
}

const linesPerChunk = 10_000;

/** Yields a line for every body: its name without the prefix of its bucket, and its size. */
function* listLines(index: BodyIndex, bucketId: string): Generator<Uint8Array> {
  const prefix = bucketBlobsPrefix(bucketId);
  let lines: string[] = [];
  for (const { name, size } of index.named(prefix)) {
    lines.push(`${name.slice(prefix.length)} ${size}\n`);
    if (lines.length < linesPerChunk) continue;
    yield Buffer.from(lines.join(""));
    lines = [];
  }
  if (lines.length > 0) yield Buffer.from(lines.join(""));
}

export interface SnapshotFile {
  /** Name in the repository. */
  readonly name: string;
  readonly entry: FileEntry;
  /** Path in the copy of the snapshot on this machine. */
  readonly path: string;
}

export function snapshotFiles(snapshot: SnapshotLayout, manifest: OffsiteManifest): SnapshotFile[] {
  const names = snapshotNames(manifest.snapshot);
  return [
    ...manifest.buckets.map(({ id, database: entry }) => ({
      ...{ name: names.database(id), entry, path: bucketPaths(snapshot, id).database },
    })),
    ...manifest.lists.map((entry) => ({
      ...{ name: names.bodies(entry.id), entry },
      path: join(bucketPaths(snapshot, entry.id).directory, "bodies"),
    })),
    ...manifest.companions.map((entry, index) => ({
      ...{ name: names.companion(index), entry, path: join(snapshot.companions, entry.name) },
    })),
    { name: names.registry, entry: manifest.registry, path: snapshot.registry },
  ];
}

/** Lists the repository once more. Throws if an object is missing or has another size. */
export async function checkUploaded(
  { repository: { objects, files, where }, index, snapshot }: Omit<SnapshotUpload, "content" | "watch">,
  manifest: OffsiteManifest,
): Promise<void> {
  const { prefix } = snapshotNames(manifest.snapshot);
  index.clearStored();
  await index.addStored(objects.list(prefix));
  await index.addStored(objects.list(blobsPrefix));
  const check = (name: string, size: number) => {
    for (const piece of files.pieces(name, size)) {
      if (index.storedSize(piece.name) === piece.stored) continue;
      throw new BackupError(
        `The object "${piece.name}" at ${where} disappeared or changed during the backup.`,
        [
          "Check that no lifecycle rule or other program changes the prefix, then run the same command again.",
        ],
      );
    }
  };
  for (const { name, entry } of snapshotFiles(snapshot, manifest)) check(name, entry.bytes);
  for (const { id } of manifest.buckets)
    for (const { name, size } of index.named(bucketBlobsPrefix(id))) check(name, size);
}
