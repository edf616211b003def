// The active handlers at a position of a document: document handlers everywhere, element handlers
// inside their element.
import { type ContentToken, invalidate } from "./content.ts";
import type { Selector } from "./selector.ts";

/** A handler function of a script, bound to the object that defines it. */
export type Handler = (token: ContentToken) => unknown;

export interface Listener {
  readonly selector: Selector;
  readonly element: Handler | undefined;
  readonly text: Handler | undefined;
  readonly comments: Handler | undefined;
}

export interface DocumentListener {
  readonly doctype: Handler | undefined;
  readonly text: Handler | undefined;
  readonly comments: Handler | undefined;
  readonly end: Handler | undefined;
}

export interface ActiveHandlers {
  /** Element handlers first, in order of registration; each handler is listed once. */
  text(): readonly Handler[];
  comments(): readonly Handler[];
  /** Activates handlers. Each stays active until it is removed as often as it was added. */
  enter(listeners: readonly Listener[]): void;
  exit(listeners: readonly Listener[]): void;
}

export function createActiveHandlers(
  listeners: readonly Listener[],
  documents: readonly DocumentListener[],
): ActiveHandlers {
  const activeCounts = new Map<Listener, number>();
  let text: readonly Handler[] = [];
  let comments: readonly Handler[] = [];

  function update(): void {
    const all = [...listeners.filter((listener) => activeCounts.has(listener)), ...documents];
    text = all.flatMap((listener) => listener.text ?? []);
    comments = all.flatMap((listener) => listener.comments ?? []);
  }

  function count(changed: readonly Listener[], by: 1 | -1): void {
    if (changed.length === 0) return;
    for (const listener of changed) {
      const times = (activeCounts.get(listener) ?? 0) + by;
      if (times === 0) activeCounts.delete(listener);
      else activeCounts.set(listener, times);
    }
    update();
  }

  update();
  return {
    text: () => text,
    comments: () => comments,
    enter: (entering) => count(entering, 1),
    exit: (exiting) => count(exiting, -1),
  };
}

/** Calls the handler; afterwards the token is invalid. */
export async function call(handler: Handler, token: ContentToken): Promise<void> {
  try {
    await handler(token);
  } finally {
    invalidate(token);
  }
}
