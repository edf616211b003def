// The sweep: aborts uploads that are due (spec 3: after seven days), and removes ended uploads and
// garbage. Several processes can sweep concurrently. A sweep can be interrupted at any point.
import { setImmediate } from "node:timers";
import { StoreError } from "../../model/errors.ts";
import { isNamespaceBucket } from "../../model/key-value.ts";
import type { Context } from "../context.ts";
import { removeExpiredKeys } from "../key-value/expiry.ts";
import type { GarbageEntry } from "../records.ts";
import { abort } from "../uploads/uploads.ts";
import type { IdleBuckets } from "./idle-buckets.ts";
import { claimLifecycleRun, runLifecycle } from "./lifecycle.ts";
import type { SweepReport } from "./reports.ts";

const batch = 256;
/** Garbage entries per batch: about as many as busy writers add during one commit. */
const garbageBatch = 512;

/** Idle buckets that are passed over in one turn of the event loop. */
const idlePerTurn = 64;

type Counts = { -readonly [name in keyof SweepReport]: SweepReport[name] };

/** "in turn": only one process runs lifecycle rules, once an hour; they read every object. */
export async function sweep(
  context: Context,
  lifecycle: "now" | "in turn",
  idleBuckets: IdleBuckets,
): Promise<SweepReport> {
  const runsLifecycle = lifecycle === "now" || (await claimLifecycleRun(context));
  const blobsRemoved = await context.blobs.recover();
  const counts: Counts = {
    objectsExpired: 0,
    objectsMoved: 0,
    versionsExpired: 0,
    uploadsAborted: 0,
    uploadsForgotten: 0,
    blobsRemoved,
  };
  const failures: unknown[] = [];
  const buckets = await context.records.buckets("sound");
  const changeMark = await context.records.changeMarks?.();
  idleBuckets.keepOnly(new Set(buckets.map(({ name }) => name)));
  for (const [index, { name }] of buckets.entries()) {
    const mark = changeMark?.(name);
    const isIdle = idleBuckets.isIdle(name, mark, runsLifecycle);
    // Let requests run between buckets, of which a store may have thousands.
    if (index > 0 && (!isIdle || index % idlePerTurn === 0))
      await new Promise((resolve) => setImmediate(resolve));
    if (isIdle) continue;
    const failuresBefore = failures.length;
    const steps = [
      () => sweepUploads(context, name, counts),
      async () => {
        if (!runsLifecycle) return;
        if (isNamespaceBucket(name)) counts.objectsExpired += await removeExpiredKeys(context, name);
        else await runRules(context, name, counts);
      },
      async () => {
        counts.blobsRemoved += await removeGarbage(context, name);
      },
      async () => context.blobs.reclaim?.(name, "all"),
      async () => {
        if (failures.length === failuresBefore) await idleBuckets.note(name, mark);
      },
    ];
    for (const step of steps) {
      await step().catch((error: unknown) => {
        // Go on with the other buckets. NoSuchBucket is not a failure: deleting a bucket removes its
        // garbage.
        if (!(error instanceof StoreError)) throw error;
        if (error.reason !== "NoSuchBucket") failures.push(error);
      });
    }
  }
  if (failures.length > 0) throw failures[0];
  return counts;
}

/** Runs the lifecycle rules of a bucket and reports what they deleted, even if they failed. */
async function runRules(context: Context, bucket: string, counts: Counts): Promise<void> {
  const { objectsExpired, versionsExpired, uploadsAborted } = counts;
  try {
    await runLifecycle(context, bucket, counts);
  } finally {
    const expired = {
      bucket,
      objects: counts.objectsExpired - objectsExpired,
      versions: counts.versionsExpired - versionsExpired,
      uploads: counts.uploadsAborted - uploadsAborted,
    };
    if (expired.objects + expired.versions + expired.uploads > 0) await context.onExpired?.(expired);
  }
}

async function sweepUploads(context: Context, bucket: string, counts: Counts): Promise<void> {
  for (;;) {
    const due = await context.records.dueUploads(bucket, context.now(), batch);
    for (const { key, id } of due) {
      const stored = await context.records.upload(bucket, key, id);
      if (stored === undefined) continue;
      if (stored.record.state === "active") {
        if ((await abort(context, bucket, stored)) === "committed") counts.uploadsAborted++;
      } else {
        await context.records.commit(bucket, { mutations: [{ kind: "delete upload", key, id }] });
        counts.uploadsForgotten++;
      }
    }
    if (due.length < batch) return;
  }
}

/** Removes and acknowledges garbage. Blobs that a reader uses are left to the next sweep. */
export async function removeGarbage(context: Context, bucket: string): Promise<number> {
  let removed = 0;
  let after = 0;
  for (;;) {
    const garbage = await context.records.garbage(bucket, after, garbageBatch);
    // During a backup of the bucket nothing can be removed, so the rest of the queue is not read.
    if (garbage.length === 0 || context.blobs.isLeased?.(bucket)) return removed;
    removed += await removeAll(context, bucket, garbage);
    if (garbage.length < garbageBatch) return removed;
    after = garbage.at(-1)!.entry;
  }
}

/** Returns the number of removed blobs. */
async function removeAll(
  context: Context,
  bucket: string,
  garbage: readonly GarbageEntry[],
): Promise<number> {
  const gone = [];
  for (const body of garbage) {
    if (body.isDamaged === true) continue;
    if (await context.blobs.remove(bucket, body.blobs)) gone.push(body);
  }
  if (gone.length > 0) await context.records.ackGarbage(bucket, gone);
  return gone.reduce((sum, { blobs }) => sum + blobs.length, 0);
}
