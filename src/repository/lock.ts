// The lock of a repository: one process at a time adds or removes backups. It is an object that its
// owner renews; a lock that was not renewed for a while is taken over.
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { BackupError } from "../model/backup.ts";
import { isCount, isFields, isText } from "../model/shape.ts";
import type { FoundObject, ObjectStore } from "./object-store.ts";

export interface RepositoryLock {
  /** Writes the lock again. Throws if another process has taken it over. */
  renew(): Promise<void>;
  /** Throws if the lock may be lost, because it could not be renewed in time. */
  check(): void;
  release(): Promise<void>;
}

export interface LockOptions {
  /** The data directory's own id: a lock of an earlier process of this directory is free. */
  readonly owner: string;
  /** Milliseconds without a renewal after which the lock is free. */
  readonly expiry?: number;
  readonly now?: () => number;
}

const lockName = "lock";
const maxLockBytes = 4096;
const defaultExpiry = 10 * 60 * 1000;

interface LockContent {
  readonly owner: string;
  /** Distinguishes the processes of one owner. */
  readonly token: string;
  readonly host: string;
  readonly since: number;
}

/** Only one process with this owner may call this at a time: it takes over its owner's lock. */
export async function lockRepository(
  objects: ObjectStore,
  { owner, expiry = defaultExpiry, now = Date.now }: LockOptions,
): Promise<RepositoryLock> {
  const content: LockContent = {
    ...{ owner, token: randomBytes(16).toString("hex"), host: hostname().slice(0, 255), since: now() },
  };
  const bytes = Buffer.from(JSON.stringify(content));
  let renewed = now();
  let etag = await acquire(objects, { content, bytes, expiry });

  async function renew(): Promise<void> {
    const start = now();
    const written = await objects.replace(lockName, bytes, etag);
    // A lost response of an earlier attempt looks like a conflict, so read the lock before giving up.
    etag = written || (await confirm(objects, content));
    renewed = start;
  }

  function check(): void {
    // Half of the expiry is left for requests that are already on their way.
    if (now() - renewed > expiry / 2) throw lostError(objects);
  }

  let renewing: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    // A failed renewal is retried by the next one, until `check` throws.
    renewing = renewing.then(renew).catch(() => {});
  }, expiry / 10);
  timer.unref();

  return {
    async renew() {
      await renewing;
      await renew();
    },
    check,
    async release() {
      clearInterval(timer);
      await renewing;
      // After a failure the lock stays, and its owner or time frees it.
      const found = await objects.get(lockName, maxLockBytes).catch(() => undefined);
      if (parseLock(found)?.token === content.token) await objects.delete(lockName).catch(() => {});
    },
  };
}

interface Acquisition {
  readonly content: LockContent;
  readonly bytes: Buffer;
  readonly expiry: number;
}

/** Returns the etag of the lock. */
async function acquire(objects: ObjectStore, { content, bytes, expiry }: Acquisition): Promise<string> {
  await objects.create(lockName, bytes);
  const found = await objects.get(lockName, maxLockBytes);
  const other = parseLock(found);
  if (found === undefined) throw busyError(objects, undefined);
  if (other?.token === content.token) return found.etag;
  const isFree = other === undefined || other.owner === content.owner || found.age > expiry;
  if (!isFree) throw busyError(objects, other);
  await objects.replace(lockName, bytes, found.etag);
  return confirm(objects, content);
}

/** Services without conditional writes accept every write, so compare what was stored. */
async function confirm(objects: ObjectStore, content: LockContent): Promise<string> {
  const found = await objects.get(lockName, maxLockBytes);
  const stored = parseLock(found);
  if (stored?.token === content.token) return found!.etag;
  throw stored === undefined ? lostError(objects) : busyError(objects, stored);
}

function parseLock(found: FoundObject | undefined): LockContent | undefined {
  if (found === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(found.bytes.toString("utf8"));
    if (!isFields(value)) return undefined;
    const { owner, token, host, since } = value;
    const isLock = [owner, token, host].every((text) => isText(text, 255)) && isCount(since);
    return isLock ? (value as unknown as LockContent) : undefined;
  } catch {
    return undefined;
  }
}

function busyError({ where }: ObjectStore, other: LockContent | undefined): BackupError {
  const who = other === undefined ? "" : ` by ${other.host}, since ${new Date(other.since).toISOString()}`;
  return new BackupError(`Another backup to ${where} is running${who}.`, [
    "Try again when it has ended. If its machine has failed, the lock expires within 10 minutes.",
  ]);
}

function lostError({ where }: ObjectStore): BackupError {
  return new BackupError(`The lock of ${where} was lost, so the backup was not completed.`, [
    "This machine was paused or could not reach the service. Run the same command again: it resumes.",
  ]);
}
