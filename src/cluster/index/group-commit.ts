// Commits concurrent puts of single objects in one bucket together, to share the cost. If one put
// of a group fails, nothing is committed, and each put is then committed separately.
import { Buffer } from "node:buffer";
import { compareKeys, keyBytes } from "../../model/key.ts";
import type { Database } from "../postgres/database.ts";
import { DatabaseUnavailable, markNotDone } from "../postgres/errors.ts";
import type { SinglePut } from "./change.ts";
import { calls } from "./queries.ts";

interface PendingPut {
  readonly put: SinglePut;
  readonly resolve: (outcome: string) => void;
  readonly reject: (error: unknown) => void;
}

interface BucketQueue {
  readonly waiting: PendingPut[];
  inFlight: number;
}

/** Maximum number of puts in one group, and below, of their bytes. */
const maxGroupPuts = 64;
const maxGroupBytes = 1024 * 1024;
/** Two commits in flight: PostgreSQL writes the log of one while the next is being sent. */
const maxInFlight = 2;

export type PutOne = (bucket: string, put: SinglePut) => Promise<string>;

export function createGroupCommit(database: Pick<Database, "commit">): PutOne {
  const queues = new Map<string, BucketQueue>();

  const commit = (bucket: string, puts: readonly SinglePut[]) =>
    database.commit(calls.putAll, [bucket, ...toColumns(puts)]);

  /** Called only after a group commit that changed nothing. */
  async function commitSeparately(bucket: string, group: readonly PendingPut[]): Promise<void> {
    await Promise.all(group.map(({ put, resolve, reject }) => commit(bucket, [put]).then(resolve, reject)));
  }

  async function commitGroup(
    bucket: string,
    group: readonly PendingPut[],
    queue: BucketQueue,
  ): Promise<void> {
    try {
      const outcome = await commit(
        bucket,
        group.map(({ put }) => put),
      );
      const isRefused = outcome === "conflict" || outcome === "over quota";
      if (isRefused && group.length > 1) return await commitSeparately(bucket, group);
      for (const { resolve } of group) resolve(outcome);
    } catch (error) {
      const isUnavailable = error instanceof DatabaseUnavailable;
      if (!isUnavailable && group.length > 1) return await commitSeparately(bucket, group);
      for (const { reject } of group) reject(error);
      // Queued puts were never sent. Reject them now; otherwise they would wait for another
      // timeout.
      if (isUnavailable) for (const { reject } of queue.waiting.splice(0)) reject(markNotDone(error));
    }
  }

  async function drainQueue(bucket: string, queue: BucketQueue): Promise<void> {
    queue.inFlight++;
    while (queue.waiting.length > 0) await commitGroup(bucket, takeGroup(queue.waiting), queue);
    queue.inFlight--;
    if (queue.inFlight === 0) queues.delete(bucket);
  }

  return (bucket, put) =>
    new Promise((resolve, reject) => {
      const queue = queues.get(bucket) ?? { waiting: [], inFlight: 0 };
      queues.set(bucket, queue);
      queue.waiting.push({ put, resolve, reject });
      if (queue.inFlight < maxInFlight) void drainQueue(bucket, queue);
    });
}

/** Takes the puts of one group: of one protection, each key at most once, sorted by key. */
function takeGroup(waiting: PendingPut[]): readonly PendingPut[] {
  const group = new Map<string, PendingPut>();
  const protection = waiting[0]?.put.protection;
  let bytes = 0;
  for (let i = 0; i < waiting.length && group.size < maxGroupPuts && bytes < maxGroupBytes; ) {
    const { put } = waiting[i]!;
    if (group.has(put.key) || put.protection !== protection) {
      i++;
      continue;
    }
    group.set(put.key, waiting[i]!);
    bytes += put.record.length + (put.inline?.length ?? 0);
    waiting.splice(i, 1);
  }
  return [...group.values()].sort((a, b) => compareKeys(a.put.key, b.put.key));
}

/** Returns the arguments of store.put_all. */
function toColumns(puts: readonly SinglePut[]): readonly unknown[] {
  const { protection, since } = puts[0]!;
  const keys = puts.map(({ key }) => keyBytes(key));
  const bytes = puts.flatMap(({ inline }, i) => (inline === null ? [keys[i]!] : [keys[i]!, inline]));
  return [
    puts.map(({ seen }) => seen),
    puts.map(({ version }) => version),
    puts.map(({ size }) => size),
    puts.map(({ record }) => record),
    puts.map(({ blob }) => blob),
    puts.map(({ stored }) => stored),
    keys.map(({ length }) => length),
    puts.map(({ inline }) => inline?.length ?? null),
    Buffer.concat(bytes),
    protection,
    since === null ? null : puts.map((put) => put.since),
    since === null ? null : puts.map(({ isVersioned }) => isVersioned),
  ];
}
