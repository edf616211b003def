// When housekeeping runs: soon after writes that may have buried bytes, every few minutes for what time
// alone brings, and whenever asked. One sweep at a time; failures are told once and tried again later.

import { type Metrics, secondsBounds } from "../../metrics/metrics.ts";
import { StoreError } from "../../model/errors.ts";
import type { Context } from "../context.ts";
import type { Damage, SweepReport } from "../engine.ts";
import { scrub } from "./scrub.ts";
import type { ScrubOptions, ScrubOutcome } from "./scrub-report.ts";
import { removeBuried, sweep } from "./sweep.ts";

const soonMilliseconds = 20;
const everyMilliseconds = 5 * 60_000;
/** When what dead processes left is seen to: first requests go before. */
const afterOpeningMilliseconds = 500;
/** How soon after a start, and how often then, it is asked whether a scrub is due. */
const scrubMilliseconds = 60_000;

export interface Housekeeping {
  /** The same operation; what it buried is removed shortly after. Its first argument names the bucket. */
  after<A extends [bucket: string, ...rest: never[]], R>(
    operation: (...args: A) => Promise<R>,
  ): (...args: A) => Promise<R>;
  sweep(): Promise<SweepReport>;
  sweepBucket(name: string): Promise<void>;
  startScrub(onDamage: (damage: Damage) => void): void;
  scrub(options: ScrubOptions): Promise<ScrubOutcome>;
  stop(): Promise<void>;
}

export function createHousekeeping(context: Context, metrics: Metrics): Housekeeping {
  const figures = createFigures(metrics);
  const touched = new Set<string>();
  /** Buckets whose space is being given back, or is to be. */
  const reclaimed = new Map<string, "once" | "again">();
  let reclaims: Promise<unknown> = Promise.resolve();
  let soon: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let stopped = false;
  let isEnding = false;
  let scrubbing: Promise<unknown> | undefined;
  let scrubTimer: NodeJS.Timeout | undefined;

  /** Runs one piece of work after the other, so that two sweeps never do the same thing twice at once. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = last.then(work);
    last = turn.catch(() => {});
    return turn;
  }

  function inBackground(work: () => Promise<unknown>): void {
    inTurn(work).catch(warn);
  }

  /** Beside the removal of what is buried: that must go on while bodies are moved. */
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
    } while (reclaimed.get(name) === "again" && !isEnding);
    reclaimed.delete(name);
  }

  function warn(error: unknown): void {
    if (!stopped)
      process.emitWarning(`Housekeeping failed and will be tried again: ${String(error)}`, "StoreWarning");
  }

  async function removeTouched(): Promise<void> {
    const names = [...touched];
    touched.clear();
    for (const name of names) {
      if (stopped) return;
      const removed = (await removeBuried(context, name).catch(ignoreGone)) ?? 0;
      figures.freed({ blobsRemoved: removed });
      if (removed > 0) reclaimSoon(name);
    }
  }

  async function sweepAll(lifecycle: "now" | "in turn"): Promise<SweepReport> {
    const begin = performance.now();
    try {
      const report = await sweep(context, lifecycle);
      figures.freed(report);
      figures.sweeps("done").add(1);
      return report;
    } catch (error) {
      figures.sweeps("failed").add(1);
      throw error;
    } finally {
      figures.seconds.observe((performance.now() - begin) / 1000);
    }
  }

  /** One at a time, and beside the sweeps, since it takes hours. */
  function scrubNow(options: ScrubOptions): Promise<ScrubOutcome> {
    const turn = (scrubbing ?? Promise.resolve()).then(() => scrub(context, options, () => isEnding));
    scrubbing = turn.catch(() => {});
    return turn;
  }

  function scrubLater(onDamage: (damage: Damage) => void): void {
    scrubTimer = setTimeout(() => {
      scrubNow({ onDamage })
        .catch((error: unknown) => {
          if (!isEnding)
            process.emitWarning(`The scrub failed and will be tried again: ${String(error)}`, "StoreWarning");
        })
        .finally(() => {
          if (!isEnding) scrubLater(onDamage);
        });
    }, scrubMilliseconds).unref();
  }

  /** What dead processes have buried, and segments that they left half filled. */
  async function tidyAfterDeath(): Promise<void> {
    for (const { name } of await context.records.buckets("sound")) {
      if (isEnding) return;
      const removed = (await removeBuried(context, name).catch(ignoreGone)) ?? 0;
      figures.freed({ blobsRemoved: removed });
      reclaimSoon(name);
      // Requests come between one bucket and the next.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  const early = context.blobs.hasFoundDeath?.()
    ? setTimeout(() => inBackground(tidyAfterDeath), afterOpeningMilliseconds).unref()
    : undefined;
  const regularly = setInterval(() => inBackground(() => sweepAll("in turn")), everyMilliseconds).unref();

  return {
    after(operation) {
      return async (...args) => {
        const result = await operation(...args);
        touched.add(args[0]);
        soon ??= setTimeout(() => {
          soon = undefined;
          inBackground(removeTouched);
        }, soonMilliseconds).unref();
        return result;
      };
    },
    sweep: () => inTurn(() => sweepAll("now")),
    async sweepBucket(name) {
      figures.freed({ blobsRemoved: await inTurn(() => removeBuried(context, name)) });
    },
    startScrub: scrubLater,
    scrub: scrubNow,
    async stop() {
      isEnding = true;
      clearTimeout(scrubTimer);
      await scrubbing;
      clearInterval(regularly);
      clearTimeout(early);
      clearTimeout(soon);
      // What was deleted a moment ago is not left to the next who opens the store.
      if (touched.size > 0) inBackground(removeTouched);
      await last;
      await reclaims;
      stopped = true;
    },
  };
}

/** A bucket deleted meanwhile took its garbage with it. */
function ignoreGone(error: unknown): undefined {
  if (error instanceof StoreError && error.reason === "NoSuchBucket") return undefined;
  throw error;
}

const sweptNames: Readonly<Record<keyof SweepReport, string>> = {
  objectsExpired: "objects expired",
  objectsMoved: "objects moved",
  uploadsAborted: "uploads aborted",
  uploadsForgotten: "uploads forgotten",
  blobsRemoved: "bodies removed",
};

function createFigures(metrics: Metrics) {
  const swept = metrics.counter({
    name: "store_swept_total",
    help: "What housekeeping has ended, moved and removed.",
    labels: ["what"],
  });
  return {
    freed(report: Partial<SweepReport>): void {
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
      { name: "store_sweep_seconds", help: "How long sweeps of the whole store took." },
      secondsBounds,
    )(),
  };
}
