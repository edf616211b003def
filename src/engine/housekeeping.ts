// When housekeeping runs: soon after writes that may have buried bytes, every few minutes for what time
// alone brings, and whenever asked. One sweep at a time; failures are told once and tried again later.
import { StoreError } from "../model/errors.ts";
import type { Context } from "./context.ts";
import type { Damage, ScrubOptions, ScrubOutcome, SweepReport } from "./engine.ts";
import { scrub } from "./scrub.ts";
import { removeBuried, sweep } from "./sweep.ts";

const soonMilliseconds = 20;
const everyMilliseconds = 5 * 60_000;
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

export function createHousekeeping(context: Context): Housekeeping {
  const touched = new Set<string>();
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
    inTurn(work).catch((error: unknown) => {
      if (!stopped)
        process.emitWarning(`Housekeeping failed and will be tried again: ${String(error)}`, "StoreWarning");
    });
  }

  async function removeTouched(): Promise<void> {
    const names = [...touched];
    touched.clear();
    for (const name of names) {
      if (stopped) return;
      await removeBuried(context, name).catch((error: unknown) => {
        // A bucket deleted meanwhile took its garbage with it.
        if (!(error instanceof StoreError && error.reason === "NoSuchBucket")) throw error;
      });
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

  const regularly = setInterval(
    () => inBackground(() => sweep(context, "in turn")),
    everyMilliseconds,
  ).unref();

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
    sweep: () => inTurn(() => sweep(context, "now")),
    async sweepBucket(name) {
      await inTurn(() => removeBuried(context, name));
    },
    startScrub: scrubLater,
    scrub: scrubNow,
    async stop() {
      isEnding = true;
      clearTimeout(scrubTimer);
      await scrubbing;
      clearInterval(regularly);
      clearTimeout(soon);
      // What was deleted a moment ago is not left to the next who opens the store.
      if (touched.size > 0) inBackground(removeTouched);
      await last;
      stopped = true;
    },
  };
}
