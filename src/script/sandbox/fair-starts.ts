// Shares the bridge between sandboxes, so that a script with many requests does not delay those of the
// others: in one turn of the event loop, only a few requests of one sandbox start. While another
// script has requests too, a sandbox also pauses after these few, because its runtime and the bridge would
// otherwise use all processors.
import type { HttpHandler } from "../../http/server/listen.ts";

/** Enough that a turn is mostly work, and short compared with a request. */
const defaultMaxStarts = 8;
/** A sandbox beside other scripts starts up to 2,000 requests a second. */
const pauseMilliseconds = 4;
/** A script whose last request is older does not count. */
const activeMilliseconds = 1000;

export interface FairStarts {
  /** Returns a function that makes the handlers of a sandbox share its starts. */
  openSandbox(script: string): (handle: HttpHandler) => HttpHandler;
}

interface LastStart {
  readonly script: string;
  readonly time: number;
}

export function createFairStarts(maxStarts = defaultMaxStarts, now = () => performance.now()): FairStarts {
  let last: LastStart | undefined;
  /** The last start of another script than that of `last`. */
  let lastOfAnother: LastStart | undefined;

  function record(script: string): void {
    if (last?.script !== script) lastOfAnother = last;
    last = { script, time: now() };
  }

  function isBesideOthers(script: string): boolean {
    const other = last?.script === script ? lastOfAnother : last;
    return other !== undefined && now() - other.time < activeMilliseconds;
  }

  function openSandbox(script: string): (handle: HttpHandler) => HttpHandler {
    const waiting: (() => void)[] = [];
    let started = 0;

    function countStart(): void {
      record(script);
      if (started++ === 0) setImmediate(endTurn);
    }

    function endTurn(): void {
      if (started >= maxStarts && isBesideOthers(script)) setTimeout(startNext, pauseMilliseconds);
      else startNext();
    }

    function startNext(): void {
      started = 0;
      for (const start of waiting.splice(0, maxStarts)) {
        countStart();
        start();
      }
    }

    return (handle) => (request) => {
      if (started < maxStarts && waiting.length === 0) {
        countStart();
        return handle(request);
      }
      return new Promise<void>((resolve) => waiting.push(resolve)).then(() => handle(request));
    };
  }

  return { openSandbox };
}
