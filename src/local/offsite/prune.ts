// Removes old backups: first their manifests, then everything that no remaining manifest names. The
// caller holds the lock, so no backup that is being made relies on what is removed.
import { Buffer } from "node:buffer";
import { forEachLimit } from "../../async/for-each-limit.ts";
import { BackupError, type KeepRule, type PruneReport } from "../../model/backup.ts";
import { StoreError } from "../../model/errors.ts";
import type { RepositoryLock } from "../../repository/lock.ts";
import type { ObjectEntry } from "../../repository/object-store.ts";
import {
  type BackupRef,
  blobsPrefix,
  type Repository,
  removeManifest,
  snapshotsPrefix,
} from "../../repository/repository.ts";
import { chooseKept } from "../../repository/retention.ts";
import type { BodyIndex } from "./body-index.ts";
import { fetchManifest } from "./manifest.ts";
import { bucketBlobsPrefix, parseBlobName, parseSnapshotName, snapshotNames } from "./names.ts";

export interface Pruning {
  readonly repository: Repository;
  readonly lock: RepositoryLock;
  readonly index: BodyIndex;
  /** Undefined: only removes databases of interrupted backups. */
  readonly keep: KeepRule | undefined;
}

const deleteConcurrency = 8;

export async function pruneRepository(pruning: Pruning): Promise<PruneReport> {
  const { repository, lock, keep } = pruning;
  await lock.renew();
  const all = await repository.backups();
  const kept = keep === undefined ? new Set(all) : chooseKept(all, keep);
  // Read before anything is removed: an unreadable manifest may name any body.
  if (keep !== undefined) await indexBodies(pruning, kept);
  const old = all.filter((backup) => !kept.has(backup));
  for (const backup of old) {
    lock.check();
    await removeManifest(repository, backup);
  }
  const ids = new Set([...kept].map(({ id }) => id));
  let removedObjects = await removeObjects(pruning, snapshotsPrefix, ({ name }) => {
    const id = parseSnapshotName(name);
    return id !== undefined && !ids.has(id);
  });
  if (keep !== undefined) {
    removedObjects += await removeObjects(pruning, blobsPrefix, ({ name }) => {
      const body = parseBlobName(name);
      return body !== undefined && !pruning.index.isNamed(body);
    });
  }
  return { keptBackups: kept.size, removedBackups: old.length, removedObjects };
}

async function removeObjects(
  { repository: { objects }, lock }: Pruning,
  prefix: string,
  isGarbage: (object: ObjectEntry) => boolean,
): Promise<number> {
  let removed = 0;
  await forEachLimit(objects.list(prefix), { concurrency: deleteConcurrency }, async (object) => {
    if (!isGarbage(object)) return;
    lock.check();
    await objects.delete(object.name);
    removed++;
  });
  return removed;
}

/** Adds the bodies of the backups to the index, which has those of the latest backup already. */
async function indexBodies({ repository, index }: Pruning, backups: ReadonlySet<BackupRef>): Promise<void> {
  for (const backup of backups) {
    const { lists, snapshot } = await fetchManifest(repository, backup);
    for (const { id, bytes } of lists) {
      try {
        const chunks = repository.files.read(snapshotNames(snapshot).bodies(id), bytes);
        for await (const line of readLines(chunks)) index.addNamed(parseLine(bucketBlobsPrefix(id), line));
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        throw new BackupError(`The backup ${backup.name} is damaged. ${error.detail}`, [
          `Verify it: store restore --verify --backup ${backup.name} --from ${repository.where}`,
        ]);
      }
    }
  }
}

function parseLine(prefix: string, line: string) {
  const [, rest, size] = /^(\S{1,64}) (\d{1,16})$/.exec(line) ?? [];
  const name = parseBlobName(prefix + rest);
  if (name !== undefined && name === prefix + rest) return { name, size: Number(size) };
  throw new StoreError("Damaged", { detail: "A list of its bodies is not what Store writes there." });
}

async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of chunks) {
    // The lists contain ASCII only, so a chunk never ends inside a character.
    const lines = (rest + Buffer.from(chunk).toString("latin1")).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
  if (rest !== "") yield rest;
}
