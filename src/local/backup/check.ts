// Checks that the registry in a backup lists the same buckets as the manifest. Bucket ids in a
// restored registry become paths, so an id outside the manifest must never get into a store.
import { StoreError } from "../../model/errors.ts";
import { isMissing } from "../disk/errors.ts";
import { createRegistryReader } from "../index/bucket-registry.ts";
import { inspectFile } from "./copy-blob.ts";
import { type BackupLayout, snapshotLayout } from "./layout.ts";
import { createLinkCheck } from "./links.ts";
import type { Manifest } from "./manifest.ts";
import { openSnapshot } from "./sqlite-snapshot.ts";

/** Describes a mismatch, if any. A missing or damaged file is reported when it is copied. */
export async function findForeignBucket(
  backup: BackupLayout,
  manifest: Manifest,
): Promise<string | undefined> {
  const { registry } = snapshotLayout(backup, manifest.snapshot);
  createLinkCheck(backup.root)(registry);
  try {
    const { sha256 } = await inspectFile(registry, () => {});
    if (sha256 !== manifest.registry.sha256) return undefined;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  const expected = new Map(manifest.buckets.map(({ id, name }) => [id, name]));
  const database = openSnapshot(registry);
  const other = `"${registry}" names other buckets than the manifest.`;
  try {
    const reader = createRegistryReader(database);
    const all = reader.all();
    const isSame = all.length === expected.size && all.every(({ id, name }) => expected.get(id) === name);
    const hasOnlyExpectedIds = [...reader.ids()].every((id) => id === "" || expected.has(id));
    return isSame && hasOnlyExpectedIds ? undefined : other;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return `${other} ${error.detail}`;
  } finally {
    database.close();
  }
}
