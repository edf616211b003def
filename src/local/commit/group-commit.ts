// Group commit on the serving thread: the changes of one turn of the event loop are sent together.
// The writer commits all changes that arrived during its last sync together, so no timer is needed.
import { performance } from "node:perf_hooks";
import { setImmediate } from "node:timers";
import type { BucketRecord } from "../../model/bucket.ts";
import { StoreError } from "../../model/errors.ts";
import type { LocalMetrics } from "../disk/metrics.ts";
import type { WriteStop } from "../disk/write-stop.ts";
import type { DocumentDeletion, DocumentWrite } from "../documents.ts";
import { isDamage, sqliteBusy, sqliteIoError } from "../index/sqlite.ts";
import type { WireChange } from "./change.ts";
import { packChanges } from "./change-codec.ts";
import { chooseCommitter } from "./committer.ts";
import type { Failure, Group, Job, Outcome, WriterData } from "./messages.ts";

export interface Writer {
  commit(bucketId: string, change: WireChange): Promise<"committed" | "conflict">;
  createBucket(bucket: BucketRecord): Promise<boolean>;
  deleteBucket(name: string): Promise<"deleted" | "missing" | "not empty">;
  putDocument(write: DocumentWrite): Promise<"committed" | "conflict">;
  deleteDocument(deletion: DocumentDeletion): Promise<boolean>;
  /** Makes this process also commit for other processes that have the directory open. */
  startServer(): Promise<void>;
  close(): Promise<void>;
}

interface PendingChange {
  readonly change: WireChange;
  readonly since: number;
  resolve(outcome: "committed" | "conflict"): void;
  reject(error: unknown): void;
}

export function createWriter(
  data: WriterData,
  writeStop: WriteStop,
  metrics: Pick<LocalMetrics, "queue" | "wait">,
): Writer {
  const committer = chooseCommitter(data, writeStop);
  let queue = new Map<string, PendingChange[]>();
  let queued = 0;
  /** Duration of the last batch in milliseconds. */
  let lastMilliseconds = 0;
  const inFlight = new Set<Promise<void>>();

  async function send(batch: Map<string, PendingChange[]>): Promise<void> {
    const groups: Group[] = [];
    for (const [bucketId, waiting] of batch) {
      const changes = packChanges(waiting.map(({ change }) => change));
      groups.push({ bucketId, count: waiting.length, changes });
    }
    try {
      const begin = performance.now();
      const outcomes = (await committer.submit({ kind: "commit", groups })) as Outcome[][];
      lastMilliseconds = performance.now() - begin;
      // Map all results before settling any: if the disk failed for one bucket, acknowledge no
      // change.
      const results = outcomes.map((group) => group.map((outcome) => toResult(outcome, writeStop)));
      writeStop.check();
      for (const [i, waiting] of [...batch.values()].entries()) settle(waiting, results[i]!);
    } catch (error) {
      for (const waiting of batch.values()) for (const { reject } of waiting) reject(error);
    } finally {
      recordMetrics(batch);
    }
  }

  function recordMetrics(batch: Map<string, PendingChange[]>): void {
    const now = performance.now();
    for (const waiting of batch.values()) {
      metrics.queue.add(-waiting.length);
      for (const { since } of waiting) metrics.wait.observe((now - since) / 1000);
    }
  }

  /** Submits a job that is not a commit. Such jobs are rare and not batched. */
  async function submit<T>(job: Job): Promise<T> {
    writeStop.check();
    const result = await committer.submit(job);
    writeStop.check();
    if (typeof result === "object" && result !== null && "failure" in result)
      throw toError(result as Failure, writeStop);
    return result as T;
  }

  function flush(): void {
    if (queued === 0) return;
    const batch = queue;
    queue = new Map();
    queued = 0;
    const sent = send(batch).finally(() => inFlight.delete(sent));
    inFlight.add(sent);
  }

  return {
    commit(bucketId, change) {
      return new Promise((resolve, reject) => {
        writeStop.check();
        if (queued === 0) setImmediate(flush);
        const waiting = queue.get(bucketId) ?? [];
        waiting.push({ change, since: performance.now(), resolve, reject });
        metrics.queue.add(1);
        queue.set(bucketId, waiting);
        if (++queued >= pipelineThreshold && lastMilliseconds < slowMilliseconds) flush();
      });
    },
    createBucket: (bucket) => submit({ kind: "create bucket", bucket }),
    deleteBucket: (name) => submit({ kind: "delete bucket", name }),
    putDocument: (write) => submit({ kind: "put document", write }),
    deleteDocument: (deletion) => submit({ kind: "delete document", deletion }),
    startServer: () => committer.startServer(),
    async close() {
      if (queue.size > 0) flush();
      await Promise.all(inFlight);
      await committer.close();
    },
  };
}

/**
 * At this many pending changes, they are sent before the turn ends: the writer commits them while
 * this thread prepares more. If commits are slow, all changes of a turn are sent together.
 */
const pipelineThreshold = 16;
const slowMilliseconds = 4;

type Result = "committed" | "conflict" | StoreError;

function toResult(outcome: Outcome, writeStop: WriteStop): Result {
  if (outcome === "committed" || outcome === "conflict") return outcome;
  if (outcome === "over quota") return new StoreError("QuotaExceeded");
  return outcome === "no such bucket" ? new StoreError("NoSuchBucket") : toError(outcome, writeStop);
}

function settle(waiting: readonly PendingChange[], results: readonly Result[]): void {
  for (const [i, { resolve, reject }] of waiting.entries()) {
    const result = results[i]!;
    if (result instanceof StoreError) reject(result);
    else resolve(result);
  }
}

function toError({ failure, message, code }: Failure, writeStop: WriteStop): StoreError {
  const cause = new Error(message);
  if (failure === "full") return new StoreError("InsufficientStorage", { cause });
  if (code === sqliteBusy) {
    return new StoreError("ServiceUnavailable", {
      detail: "Other processes kept the bucket's database locked for too long. Please try again.",
      cause,
      // Nothing was changed, because the lock is acquired before the first change.
      notDone: true,
    });
  }
  if (isDamage(code)) return new StoreError("Damaged", { detail: message, cause });
  if (code !== undefined && code !== sqliteIoError) return new StoreError("InternalError", { cause });
  return writeStop.trip(cause);
}
