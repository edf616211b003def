// A repository of backups on an S3 service. All backups share their bodies, which never change.
//   store-backup.json               format and sealed key; makes the prefix a repository
//   backups/<time>-<id>             the manifest of a backup; written last
//   snapshots/<id>/<file>           the databases of that backup and the ids of its bodies
//   blobs/<bucket>/<folder>/<n>     bodies
//   lock                            held by the process that adds or removes backups
import { BackupError } from "../model/backup.ts";
import type { Codec } from "./codec.ts";
import { createFiles, type Files } from "./files.ts";
import { createHeader, type KeyOptions, openHeader } from "./header.ts";
import { type ObjectStore, type ObjectStoreOptions, openObjectStore } from "./object-store.ts";

/** A backup in the repository. */
export interface BackupRef {
  /** Time and random id: the name of the manifest. */
  readonly name: string;
  readonly time: number;
  /** The random id alone, which names the snapshot. */
  readonly id: string;
}

export interface Repository {
  readonly where: string;
  readonly isEncrypted: boolean;
  readonly objects: ObjectStore;
  readonly files: Files;
  /** Returns all complete backups, oldest first. */
  backups(): Promise<BackupRef[]>;
  readManifest(backup: BackupRef): Promise<unknown>;
  /** Makes a backup complete. Everything that the manifest names must be stored. */
  writeManifest(backup: BackupRef, manifest: object): Promise<void>;
  close(): void;
}

export interface RepositoryOptions extends ObjectStoreOptions, KeyOptions {
  /** "create": makes an empty prefix a repository. Default: a missing repository is an error. */
  readonly absent?: "create";
}

export const snapshotsPrefix = "snapshots/";
export const blobsPrefix = "blobs/";
const backupsPrefix = "backups/";
const maxManifestBytes = 64 * 1024 * 1024;
/** Retries of the first request: a wrong address should be reported soon. */
const probeMilliseconds = 10_000;

export async function openRepository(options: RepositoryOptions): Promise<Repository> {
  const probe = openObjectStore({ ...options, times: { retry: probeMilliseconds, ...options.times } });
  try {
    const codec = (await openHeader(probe, options)) ?? (await createOrRefuse(probe, options));
    return createRepository(openObjectStore(options), codec);
  } finally {
    probe.close();
  }
}

async function createOrRefuse(objects: ObjectStore, options: RepositoryOptions): Promise<Codec> {
  const { absent } = options;
  for await (const { name } of objects.list("")) {
    // Two first backups may start at the same time, and the other one has created the repository.
    const created = await openHeader(objects, options);
    if (created !== undefined) return created;
    throw new BackupError(`${objects.where} is not a backup: it contains other objects, such as "${name}".`, [
      absent === undefined
        ? "Check the prefix of the backup."
        : "Specify a prefix that is empty, or one with earlier backups.",
    ]);
  }
  if (absent === "create") return createHeader(objects, options);
  throw new BackupError(`There are no backups at ${objects.where}.`, [
    "Check the address, or make a backup: store backup --to s3://host:port/bucket/prefix",
  ]);
}

function createRepository(objects: ObjectStore, codec: Codec): Repository {
  return {
    where: objects.where,
    isEncrypted: codec.isEncrypted,
    objects,
    files: createFiles(objects, codec),

    async backups() {
      const found: BackupRef[] = [];
      for await (const { name } of objects.list(backupsPrefix)) {
        const backup = parseBackupName(name.slice(backupsPrefix.length));
        if (backup !== undefined) found.push(backup);
      }
      return found.sort((a, b) => a.time - b.time);
    },

    async readManifest({ name }) {
      const found = await objects.get(backupsPrefix + name, maxManifestBytes);
      if (found === undefined) throw new BackupError(`The backup ${name} was removed meanwhile.`);
      const bytes = codec.open(backupsPrefix + name, found.bytes);
      return JSON.parse(Buffer.from(bytes).toString("utf8"));
    },

    async writeManifest({ name }, manifest) {
      const bytes = Buffer.from(JSON.stringify(manifest));
      if (codec.storedSize(bytes.length) > maxManifestBytes) {
        throw new BackupError("The store has too many buckets for a backup to an S3 service.", [
          "Back it up to a folder: store backup --to DIR",
        ]);
      }
      const sealed = codec.seal(backupsPrefix + name, bytes);
      // The name is random, so an existing object was created by a request whose response was lost.
      await objects.create(backupsPrefix + name, sealed);
      // Without its manifest there is no backup, so do not take the service's word for it.
      const stored = await objects.get(backupsPrefix + name, maxManifestBytes);
      if (stored?.bytes.equals(sealed)) return;
      await objects.delete(backupsPrefix + name);
      throw new BackupError(`The S3 service of ${objects.where} does not return what was written.`, [
        "The backup is not complete. Specify a service with strong consistency.",
      ]);
    },

    close: objects.close,
  };
}

export function removeManifest({ objects }: Repository, { name }: BackupRef): Promise<void> {
  return objects.delete(backupsPrefix + name);
}

const namePattern = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z-([0-9a-f]{16})$/;

export function formatBackupName(time: number, id: string): string {
  return `${new Date(time).toISOString().replaceAll(/[-:.]/g, "")}-${id}`;
}

export function parseBackupName(name: string): BackupRef | undefined {
  const [, year, month, day, hour, minute, second, fraction, id = ""] = namePattern.exec(name) ?? [];
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction}Z`);
  return Number.isNaN(time) ? undefined : { name, time, id };
}
