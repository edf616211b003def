// The writer thread commits for its process and, on request, for other processes. All pending
// changes of a bucket are committed in one transaction, so that they share one sync.
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { setImmediate } from "node:timers";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { errorMessage, StoreError } from "../../model/errors.ts";
import { isNoSpace } from "../disk/errors.ts";
import { syncDirectorySync } from "../disk/fsync-directory.ts";
import { bucketPaths } from "../disk/layout.ts";
import { createLru } from "../disk/lru.ts";
import { createWriterMetrics } from "../disk/metrics.ts";
import { createReserve } from "../disk/space-reserve.ts";
import { deleteDocument, putDocument } from "../documents.ts";
import { createBucket, createRegistryReader, deleteBucket } from "../index/bucket-registry.ts";
import { openBucketDatabase } from "../index/migrations.ts";
import { ensureReserve, reclaimSpace } from "../index/reclaim-space.ts";
import {
  createCheckpoint,
  type Database,
  inTransaction,
  isDamage,
  openDatabase,
  sqliteBusy,
  sqliteCannotOpen,
  sqliteCode,
  sqliteCorrupt,
  sqliteFull,
  sqliteIoError,
} from "../index/sqlite.ts";
import { createVacuum } from "../index/vacuum.ts";
import { createApplier } from "./apply.ts";
import type { WireChange } from "./change.ts";
import { unpackChanges } from "./change-codec.ts";
import { type CommitServer, openCommitServer } from "./commit-server.ts";
import type { Failure, Outcome, Reply, Request, WriterData } from "./messages.ts";

const { layout, processName, metricsBuffer, busyMilliseconds } = workerData as WriterData;
const { recordCommit } = createWriterMetrics(metricsBuffer);
const port = parentPort!;
const registry = withDurableLog(layout.registry, openDatabase(layout.registry, { role: "writer" }));
const checkpointRegistry = createCheckpoint(registry);
const reserve = createReserve(layout.reserve, processName);
const buckets = createLru(64, openBucket, ({ database }) => database.close());
const vacuum = createVacuum(() =>
  buckets
    .values()
    .map(({ database, checkpoint }) => ({ database, checkpoint: () => runCheckpoint(checkpoint) })),
);

/**
 * Opening the database creates a missing log. SQLite syncs the log's directory entry at the first
 * commit, but acknowledges that commit even if the sync fails, so the entry is synced here first.
 */
function withDurableLog(path: string, database: Database): Database {
  try {
    syncDirectorySync(dirname(path));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function openBucket(id: string) {
  const path = bucketPaths(layout, id).database;
  const database = withDurableLog(path, openBucketDatabase(path, "writer"));
  return { database, applier: createApplier(database), checkpoint: createCheckpoint(database) };
}

/** The first failure of the disk. All later requests are refused with it. */
let diskFailure: Failure | undefined;

function commitGroup(bucketId: string, changes: readonly WireChange[]): Outcome[] {
  try {
    if (diskFailure !== undefined) return changes.map(() => diskFailure!);
    const { database, applier } = buckets.get(bucketId);
    if (changes.some((change) => !change.onlyFreesSpace) && !ensureReserve(reserve, database))
      throw fullDiskError();
    return inTransaction(
      database,
      () => (applier.isDeleted() ? changes.map(() => "no such bucket" as const) : applier.apply(changes)),
      { onSynced: (seconds) => recordCommit(changes.length, seconds), busyMilliseconds },
    );
  } catch (error) {
    const code = sqliteCode(error);
    const isGone = code === sqliteCannotOpen && !existsSync(bucketPaths(layout, bucketId).database);
    if (isGone) return changes.map(() => "no such bucket");
    if (code === sqliteFull) return commitOnFullDisk(bucketId, changes, error);
    const all = changes.length === 1 || code === sqliteIoError || code === sqliteBusy;
    if (all) return changes.map(() => failure("failed", error));
    // A change that SQLite refuses must not fail the other changes, so commit each change
    // separately.
    return changes.flatMap((change) => commitGroup(bucketId, [change]));
  }
}

/** Commits the changes that only free space, using the reserve if needed. Refuses all others. */
function commitOnFullDisk(bucketId: string, changes: readonly WireChange[], error: unknown): Outcome[] {
  const freeing = changes.filter((change) => change.onlyFreesSpace);
  if (freeing.length === 0) return changes.map(() => failure("full", error));
  const isLastResort = freeing.length === changes.length;
  try {
    if (isLastResort && !reclaimSpace(reserve, buckets.get(bucketId).database))
      return changes.map(() => failure("full", error));
  } catch (failed) {
    return changes.map(() => failure("failed", failed));
  }
  const outcomes = commitGroup(bucketId, freeing)[Symbol.iterator]();
  return changes.map((change) => (change.onlyFreesSpace ? outcomes.next().value! : failure("full", error)));
}

function fullDiskError(): Error {
  return Object.assign(new Error("The disk is full and the space reserve is used up."), {
    errcode: sqliteFull,
  });
}

function failure(kind: Failure["failure"], error: unknown): Failure {
  // Damage found in the rows is not a failure of the disk.
  if (error instanceof StoreError) return { failure: kind, message: error.detail, code: sqliteCorrupt };
  const words = errorMessage(error);
  const code = sqliteCode(error);
  const message = isDamage(code) ? `The stored data is damaged: ${words}.` : words;
  const result: Failure = { failure: kind, message, code };
  // Only a disk failure stops writes, not a full disk or a change that SQLite refuses (as in
  // group-commit.ts).
  if (kind === "failed" && (result.code === undefined || result.code === sqliteIoError))
    diskFailure ??= result;
  return result;
}

function attempt<T>(work: () => T): T | Failure {
  try {
    if (diskFailure !== undefined) return diskFailure;
    return work();
  } catch (error) {
    return failure(sqliteCode(error) === sqliteFull || isNoSpace(error) ? "full" : "failed", error);
  }
}

function answer(request: Exclude<Request, CommitRequest>): Reply["result"] {
  switch (request.kind) {
    case "create bucket":
      return attempt(() => {
        if (!reserve.ensureReserved()) throw fullDiskError();
        return createBucket(layout, registry, request.bucket);
      });
    case "delete bucket":
      return attempt(() => {
        const id = createRegistryReader(registry).find(request.name)?.id;
        const outcome = deleteBucket(layout, registry, request.name);
        if (outcome === "deleted" && id !== undefined) buckets.drop(id);
        return outcome;
      });
    case "put document":
      return attempt(() => putDocument(registry, request.write));
    case "delete document":
      return attempt(() => deleteDocument(registry, request.deletion));
    case "start server":
      return attempt(() => {
        startServer();
        return undefined;
      });
    case "close":
      server?.close();
      vacuum.stop();
      for (const { database } of buckets.values()) truncateLog(database);
      truncateLog(registry);
      buckets.clear();
      registry.close();
      return undefined;
  }
}

/**
 * Truncates the log, because a failed commit in it could reappear after a crash. Closing runs no
 * checkpoint: the driver closes a database only when its statements are garbage-collected.
 */
function truncateLog(database: Database): void {
  try {
    database.exec("PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // The disk failed or is full: the log stays and is recovered at the next opening.
  }
}

interface PendingRequest<R extends Request = Request> {
  readonly request: R;
  /** Set only for a commit of another process: the checked changes of each group. */
  readonly changes?: readonly (readonly WireChange[])[];
  reply(reply: Reply): void;
}

type CommitRequest = Extract<Request, { kind: "commit" }>;

/** Maximum number of changes in one transaction. Further changes wait for the next transaction. */
const maxChanges = 1024;

/** Commits the requests bucket by bucket and replies to each with its own outcomes. */
function commitAll(commits: readonly PendingRequest<CommitRequest>[]): void {
  const changes = new Map<string, WireChange[]>();
  for (const { request, changes: unpacked } of commits) {
    for (const [i, group] of request.groups.entries()) {
      const own = unpacked?.[i]?.slice() ?? unpackChanges(group.changes);
      const all = changes.get(group.bucketId);
      if (all === undefined) changes.set(group.bucketId, own);
      else all.push(...own);
    }
  }
  const outcomes = new Map<string, Outcome[]>();
  for (const [bucketId, all] of changes) outcomes.set(bucketId, commitGroup(bucketId, all));
  for (const { request, reply } of commits) {
    const { id, groups } = request;
    const result = groups.map(({ bucketId, count }) => outcomes.get(bucketId)!.splice(0, count));
    reply({ id, result });
  }
  for (const bucketId of changes.keys()) runCheckpoint(() => buckets.get(bucketId).checkpoint());
}

/** Runs after the replies are sent, so that they do not wait. A failed sync stops all commits. */
function runCheckpoint(checkpoint: () => void): void {
  if (diskFailure !== undefined) return;
  try {
    checkpoint();
  } catch (error) {
    // This error means that the bucket and its log were deleted meanwhile.
    if (sqliteCode(error) !== sqliteCannotOpen) failure("failed", error);
  }
}

/** Requests without a reply, in order of arrival. */
const pending: PendingRequest[] = [];

function takeArrived(): void {
  for (;;) {
    const message = receiveMessageOnPort(port)?.message as Request | undefined;
    if (message === undefined) return;
    pending.push({ request: message, reply: replyToOwner });
  }
}

function replyToOwner(reply: Reply): void {
  port.postMessage(reply);
}

/** Takes the commits at the head of the queue that fit into one transaction. */
function takeCommits(): PendingRequest<CommitRequest>[] {
  let count = 0;
  let changes = 0;
  for (const { request } of pending) {
    if (request.kind !== "commit" || changes >= maxChanges) break;
    for (const group of request.groups) changes += group.count;
    count++;
  }
  return pending.splice(0, count) as PendingRequest<CommitRequest>[];
}

function work(): void {
  takeArrived();
  while (pending.length > 0) {
    const commits = takeCommits();
    if (commits.length > 0) {
      commitAll(commits);
    } else {
      const { request, reply } = pending.shift()!;
      reply({ id: request.id, result: answer(request as Exclude<Request, CommitRequest>) });
      if (request.kind === "close") {
        port.close();
        return;
      }
      runCheckpoint(checkpointRegistry);
    }
    takeArrived();
  }
  // After a failed sync this thread refuses to commit; clients must find another committer.
  if (diskFailure !== undefined) server?.close();
  vacuum.whenIdle();
}

let server: CommitServer | undefined;

function startServer(): void {
  server ??= openCommitServer(layout, ({ request, changes }, reply) => {
    pending.push({ request, changes, reply });
    // Deferred, so that requests already sent by other clients join the same transaction.
    if (pending.length === 1) setImmediate(work);
  });
}

port.on("message", (request: Request) => {
  pending.push({ request, reply: replyToOwner });
  work();
});
