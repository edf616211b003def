// Collects the promises passed to waitUntil, which the process awaits before it exits.
import type { ScriptContext } from "../context.ts";
import { ownExports } from "./platform/values.ts";
import { logError } from "./script-error.ts";

export interface PendingWork {
  /** Adds a promise. Its failure is logged. */
  waitUntil(promise: Promise<unknown>): void;
  waitFor(promise: Promise<unknown>): void;
  /** Creates a new context for each event, because scripts store state of one request in it. */
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

/** Has no effect: there is no origin server that could handle the request instead. */
function passThroughOnException(): void {}
