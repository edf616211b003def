// Schedules background maintenance: soon after writes that may leave garbage, every few minutes,
// and on request. Sweeps run one at a time. A failure is logged once and retried later.
import { performance } from "node:perf_hooks";
import process from "node:process";
import { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } from "node:timers";
import { type Metrics, secondsBounds } from "../../metrics/metrics.ts";
import { StoreError } from "../../model/errors.ts";
import type { Context } from "../context.ts";
import { createIdleBuckets } from "./idle-buckets.ts";
import type { Damage, ScrubOptions, ScrubOutcome, SweepReport } from "./reports.ts";
import { scrub } from "./scrub.ts";
import { removeGarbage, sweep } from "./sweep.ts";

const soonMilliseconds = 20;
const everyMilliseconds = 5 * 60_000;
/** Delay of the cleanup after a crash, so that it does not slow down the first requests. */
const afterOpeningMilliseconds = 500;
/** Initial delay and interval of the check whether a scrub is due. */
const scrubMilliseconds = 60_000;

export interface Housekeeping {
  /** Wraps an operation that takes a bucket first. The bucket's garbage is removed soon after. */
  sweepAfter<A extends [bucket: string, ...rest: never[]], R>(
    operation: (...args: A) => Promise<R>,
  ): (...args: A) => Promise<R>;
  sweep(): Promise<SweepReport>;
  sweepBucket(name: string): Promise<void>;
  startScrub(onDamage: (damage: Damage) => void): void;
  scrub(options: ScrubOptions): Promise<ScrubOutcome>;
  stop(): Promise<void>;
}

export function createHousekeeping(context: Context, metrics: Metrics): Housekeeping {
  const sweepMetrics = createSweepMetrics(metrics);
  const idleBuckets = createIdleBuckets(context);
  const touched = new Set<string>();
  /** Buckets whose space is being reclaimed. "again": another pass must follow. */
  const reclaimed = new Map<string, "once" | "again">();
  let reclaims: Promise<unknown> = Promise.resolve();
  let soonTimer: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let stopped = false;
  let isStopping = false;
  let scrubbing: Promise<unknown> | undefined;
  let scrubTimer: NodeJS.Timeout | undefined;

  /** Runs tasks one after another, so that two sweeps never do the same work. */
  function enqueue<T>(work: () => Promise<T>): Promise<T> {
    const run = last.then(work);
    last = run.catch(() => {});
    return run;
  }

  function inBackground(work: () => Promise<unknown>): void {
    enqueue(work).catch(warn);
  }

  /** Runs outside the queue, because garbage must be removed while compaction moves bodies. */
  function reclaimSoon(name: string): void {
    if (context.blobs.reclaim === undefined || stopped) return;
    if (reclaimed.has(name)) {
      reclaimed.set(name, "again");
      return;
    }
    reclaimed.set(name, "once");
    reclaims = reclaims.then(() => reclaim(name)).catch(warn);
  }

  async function reclaim(name: string): Promise<void> {
    do {
      reclaimed.set(name, "once");
      await context.blobs.reclaim?.(name, "touched").catch(ignoreGone);
    } while (reclaimed.get(name) === "again" && !isStopping);
    reclaimed.delete(name);
  }

  function warn(error: unknown): void {
    if (!stopped)
      process.emitWarning(
        `Background maintenance failed and will be retried: ${String(error)}`,
        "StoreWarning",
      );
  }

  async function removeTouched(): Promise<void> {
    const names = [...touched];
    touched.clear();
    for (const name of names) {
      if (stopped) return;
      const removed = (await removeGarbage(context, name).catch(ignoreGone)) ?? 0;
      sweepMetrics.countSwept({ blobsRemoved: removed });
      if (removed > 0) reclaimSoon(name);
    }
  }

  async function sweepAll(lifecycle: "now" | "in turn"): Promise<SweepReport> {
    const begin = performance.now();
    try {
      const report = await sweep(context, lifecycle, idleBuckets);
      sweepMetrics.countSwept(report);
      sweepMetrics.sweeps("done").add(1);
      return report;
    } catch (error) {
      sweepMetrics.sweeps("failed").add(1);
      throw error;
    } finally {
      sweepMetrics.seconds.observe((performance.now() - begin) / 1000);
    }
  }

  /** Runs one scrub at a time, outside the queue of sweeps, because a scrub takes hours. */
  function scrubNow(options: ScrubOptions): Promise<ScrubOutcome> {
    const run = (scrubbing ?? Promise.resolve()).then(() => scrub(context, options, () => isStopping));
    scrubbing = run.catch(() => {});
    return run;
  }

  function scheduleScrub(onDamage: (damage: Damage) => void): void {
    scrubTimer = setTimeout(() => {
      scrubNow({ onDamage })
        .catch((error: unknown) => {
          if (!isStopping)
            process.emitWarning(`The scrub failed and will be retried: ${String(error)}`, "StoreWarning");
        })
        .finally(() => {
          if (!isStopping) scheduleScrub(onDamage);
        });
    }, scrubMilliseconds).unref();
  }

  /** Removes the garbage of crashed processes and reclaims their half-filled segments. */
  async function cleanUpAfterCrash(): Promise<void> {
    for (const { name } of await context.records.buckets("sound")) {
      if (isStopping) return;
      const removed = (await removeGarbage(context, name).catch(ignoreGone)) ?? 0;
      sweepMetrics.countSwept({ blobsRemoved: removed });
      reclaimSoon(name);
      // Let pending requests run between buckets.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  const crashTimer = context.blobs.hasFoundCrash?.()
    ? setTimeout(() => inBackground(cleanUpAfterCrash), afterOpeningMilliseconds).unref()
    : undefined;
  const sweepTimer = setInterval(() => inBackground(() => sweepAll("in turn")), everyMilliseconds).unref();

  return {
    sweepAfter(operation) {
      return async (...args) => {
        const result = await operation(...args);
        touched.add(args[0]);
        soonTimer ??= setTimeout(() => {
          soonTimer = undefined;
          inBackground(removeTouched);
        }, soonMilliseconds).unref();
        return result;
      };
    },
    sweep: () => enqueue(() => sweepAll("now")),
    async sweepBucket(name) {
      sweepMetrics.countSwept({ blobsRemoved: await enqueue(() => removeGarbage(context, name)) });
    },
    startScrub: scheduleScrub,
    scrub: scrubNow,
    async stop() {
      isStopping = true;
      clearTimeout(scrubTimer);
      await scrubbing;
      clearInterval(sweepTimer);
      clearTimeout(crashTimer);
      clearTimeout(soonTimer);
      // Remove recent garbage now instead of leaving it to the next process.
      if (touched.size > 0) inBackground(removeTouched);
      await last;
      await reclaims;
      stopped = true;
    },
  };
}

/** Ignores the error of a deleted bucket: its garbage was removed with it. */
function ignoreGone(error: unknown): undefined {
  if (error instanceof StoreError && error.reason === "NoSuchBucket") return undefined;
  throw error;
}

const sweptNames: Readonly<Record<keyof SweepReport, string>> = {
  objectsExpired: "objects expired",
  objectsMoved: "objects moved",
  versionsExpired: "versions expired",
  uploadsAborted: "uploads aborted",
  uploadsForgotten: "uploads forgotten",
  blobsRemoved: "bodies removed",
};

function createSweepMetrics(metrics: Metrics) {
  const swept = metrics.counter({
    name: "store_swept_total",
    help: "Objects, uploads and blobs that maintenance expired, moved, aborted or removed.",
    labels: ["what"],
  });
  return {
    countSwept(report: Partial<SweepReport>): void {
      for (const [name, count] of Object.entries(report)) {
        swept(sweptNames[name as keyof SweepReport]).add(count);
      }
    },
    sweeps: metrics.counter({
      name: "store_sweeps_total",
      help: "Sweeps of the whole store.",
      labels: ["outcome"],
    }),
    seconds: metrics.histogram(
      { name: "store_sweep_seconds", help: "Duration of sweeps of the whole store." },
      secondsBounds,
    )(),
  };
}
