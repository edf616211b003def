// The serving thread's side of the writer: sends on what one turn of the event loop has brought, at once.
// The writer thread takes all that has arrived during its last sync into the next commit, so groups form by
// themselves and no timer delays anybody.
import type { BucketRecord } from "../../model/bucket.ts";
import { StoreError } from "../../model/errors.ts";
import type { LocalFigures } from "../disk/metrics.ts";
import type { Fence } from "../disk/write-fence.ts";
import type { DocumentWrite } from "../documents.ts";
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
  deleteDocument(kind: string, name: string): Promise<boolean>;
  /** From now on commits for other processes that open the directory, too. */
  openDoor(): Promise<void>;
  close(): Promise<void>;
}

interface Waiting {
  readonly change: WireChange;
  readonly since: number;
  resolve(outcome: "committed" | "conflict"): void;
  reject(error: unknown): void;
}

export function createWriter(
  data: WriterData,
  fence: Fence,
  figures: Pick<LocalFigures, "queue" | "wait">,
): Writer {
  const committer = chooseCommitter(data, fence);
  let queue = new Map<string, Waiting[]>();
  let queued = 0;
  /** How long the last batch took, in milliseconds. */
  let last = 0;
  const underWay = new Set<Promise<void>>();

  async function send(batch: Map<string, Waiting[]>): Promise<void> {
    const groups: Group[] = [];
    for (const [bucketId, waiting] of batch) {
      const changes = packChanges(waiting.map(({ change }) => change));
      groups.push({ bucketId, count: waiting.length, changes });
    }
    try {
      const begin = performance.now();
      const outcomes = (await committer.ask({ kind: "commit", groups })) as Outcome[][];
      last = performance.now() - begin;
      // All are looked at before one is settled: a disk that failed one bucket lets none of them be acknowledged.
      const results = outcomes.map((group) => group.map((outcome) => resultOf(outcome, fence)));
      fence.check();
      for (const [i, waiting] of [...batch.values()].entries()) settle(waiting, results[i]!);
    } catch (error) {
      for (const waiting of batch.values()) for (const { reject } of waiting) reject(error);
    } finally {
      count(batch);
    }
  }

  function count(batch: Map<string, Waiting[]>): void {
    const now = performance.now();
    for (const waiting of batch.values()) {
      figures.queue.add(-waiting.length);
      for (const { since } of waiting) figures.wait.observe((now - since) / 1000);
    }
  }

  /** Everything but commits: rare, and one at a time. */
  async function ask<T>(job: Job): Promise<T> {
    fence.check();
    const result = await committer.ask(job);
    fence.check();
    if (typeof result === "object" && result !== null && "failure" in result)
      throw failed(result as Failure, fence);
    return result as T;
  }

  function flush(): void {
    if (queued === 0) return;
    const batch = queue;
    queue = new Map();
    queued = 0;
    const sent = send(batch).finally(() => underWay.delete(sent));
    underWay.add(sent);
  }

  return {
    commit(bucketId, change) {
      return new Promise((resolve, reject) => {
        fence.check();
        if (queued === 0) setImmediate(flush);
        const waiting = queue.get(bucketId) ?? [];
        waiting.push({ change, since: performance.now(), resolve, reject });
        figures.queue.add(1);
        queue.set(bucketId, waiting);
        if (++queued >= pipelined && last < slowMilliseconds) flush();
      });
    },
    createBucket: (bucket) => ask({ kind: "create bucket", bucket }),
    deleteBucket: (name) => ask({ kind: "delete bucket", name }),
    putDocument: (write) => ask({ kind: "put document", write }),
    deleteDocument: (of, name) => ask({ kind: "delete document", of, name }),
    openDoor: () => committer.openDoor(),
    async close() {
      if (queue.size > 0) flush();
      await Promise.all(underWay);
      await committer.close();
    },
  };
}

/**
 * So many go to the writer before the turn is over: it commits them while this thread makes the next ones, where
 * otherwise each of the two would wait for the other. Where a sync takes longer than that saves, all go together.
 */
const pipelined = 16;
const slowMilliseconds = 4;

type Result = "committed" | "conflict" | StoreError;

function resultOf(outcome: Outcome, fence: Fence): Result {
  if (outcome === "committed" || outcome === "conflict") return outcome;
  return outcome === "no such bucket" ? new StoreError("NoSuchBucket") : failed(outcome, fence);
}

function settle(waiting: readonly Waiting[], results: readonly Result[]): void {
  for (const [i, { resolve, reject }] of waiting.entries()) {
    const result = results[i]!;
    if (result instanceof StoreError) reject(result);
    else resolve(result);
  }
}

function failed({ failure, message, code }: Failure, fence: Fence): StoreError {
  const cause = new Error(message);
  if (failure === "full") return new StoreError("InsufficientStorage", { cause });
  if (code === sqliteBusy) {
    return new StoreError("ServiceUnavailable", {
      detail: "Other processes kept the bucket's database locked for too long. Please try again.",
      cause,
      // The lock is taken before anything is changed.
      notDone: true,
    });
  }
  if (isDamage(code)) {
    return new StoreError("InternalError", { detail: damageText(message), cause });
  }
  if (code !== undefined && code !== sqliteIoError) return new StoreError("InternalError", { cause });
  return fence.fall(cause);
}

function damageText(message: string): string {
  return message.startsWith("The stored data is damaged")
    ? message
    : `The stored data is damaged: ${message}.`;
}
