// Shares the bridge between sandboxes: in one turn of the event loop, only a few requests of one sandbox
// start, so that a script with many requests does not delay those of the others.
import type { HttpHandler } from "../../http/server/listen.ts";

/** Enough that a turn is mostly work, and short compared with a request. */
const defaultMaxStarts = 8;

/** Returns a function that makes handlers share the starts of one sandbox. */
export function createFairStarts(maxStarts = defaultMaxStarts): (handle: HttpHandler) => HttpHandler {
  const waiting: (() => void)[] = [];
  let started = 0;

  function countStart(): void {
    if (started++ === 0) setImmediate(startNext);
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
