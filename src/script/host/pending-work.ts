// Promises given to waitUntil, which the process awaits before it ends, and the contexts that collect them.
import type { ScriptContext } from "../context.ts";
import { ownExports } from "./platform/values.ts";
import { logError } from "./script-error.ts";

export interface PendingWork {
  /** Logs a failure. */
  waitUntil(promise: Promise<unknown>): void;
  waitFor(promise: Promise<unknown>): void;
  /** A new context for each event, since scripts store state of one request in it. */
  createContext(): ScriptContext;
  /** Resolves when nothing is pending. */
  settle(): Promise<void>;
}

export function createPendingWork(): PendingWork {
  const pending = new Set<Promise<unknown>>();

  function waitFor(promise: Promise<unknown>): void {
    const settled = promise.finally(() => pending.delete(settled));
    pending.add(settled);
  }

  function waitUntil(promise: Promise<unknown>): void {
    waitFor(
      Promise.resolve(promise).catch((error: unknown) =>
        logError(error, "A promise given to waitUntil failed:"),
      ),
    );
  }

  return {
    waitFor,
    waitUntil,
    createContext: () => ({ waitUntil, passThroughOnException, props: {}, exports: ownExports }),
    async settle() {
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}

/** No origin server follows a script; the call is allowed and changes nothing. */
function passThroughOnException(): void {}
