// Events of the global scope: addEventListener, for scripts in the service-worker syntax.
import type { ScriptContext } from "../context.ts";

const { DOMException } = globalThis;

export class ExtendableEvent extends Event {
  readonly #context: ScriptContext;

  constructor(type: string, context: ScriptContext) {
    super(type, { cancelable: true });
    this.#context = context;
  }

  waitUntil(promise: Promise<unknown>): void {
    this.#context.waitUntil(promise);
  }

  passThroughOnException(): void {
    this.#context.passThroughOnException();
  }
}

export class FetchEvent extends ExtendableEvent {
  readonly request: Request;
  #response: Response | Promise<Response> | undefined;
  #isDispatched = false;

  constructor(request: Request, context: ScriptContext) {
    super("fetch", context);
    this.request = request;
  }

  respondWith(response: Response | Promise<Response>): void {
    if (this.#response !== undefined) {
      throw new DOMException("event.respondWith() was already called for this request.", "InvalidStateError");
    }
    if (this.#isDispatched) {
      throw new DOMException(
        "event.respondWith() was called too late: call it before the listener returns, with a promise if need be.",
        "InvalidStateError",
      );
    }
    this.#response = response;
    this.stopImmediatePropagation();
  }

  /** Calls listeners until one responds, and returns the response. */
  static dispatch(
    event: FetchEvent,
    listeners: Iterable<Listener>,
  ): Response | Promise<Response> | undefined {
    try {
      for (const listener of listeners) {
        listener(event);
        if (event.#response !== undefined) break;
      }
    } finally {
      event.#isDispatched = true;
    }
    return event.#response;
  }
}

export class ScheduledEvent extends ExtendableEvent {
  readonly cron: string;
  readonly scheduledTime: number;

  constructor(cron: string, scheduledTime: number, context: ScriptContext) {
    super("scheduled", context);
    this.cron = cron;
    this.scheduledTime = scheduledTime;
  }

  /** Has no effect: Store never retries a scheduled run. */
  noRetry(): void {}
}

type Listener = (event: Event) => unknown;
type HandledType = "fetch" | "scheduled";

export interface ScriptEvents {
  /** Functions to define in the global scope. */
  readonly scope: {
    addEventListener(type: string, listener: unknown, options?: unknown): void;
    removeEventListener(type: string, listener: unknown, options?: unknown): void;
    dispatchEvent(event: Event): boolean;
  };
  /** Returns the listeners in the order in which they were added. They throw to their caller. */
  listeners(type: HandledType): readonly Listener[];
}

/** Collects fetch and scheduled listeners; an EventTarget dispatches all other types of events. */
export function createScriptEvents(): ScriptEvents {
  const others = new EventTarget();
  const handled: Readonly<Record<HandledType, Map<unknown, Listener>>> = {
    fetch: new Map(),
    scheduled: new Map(),
  };
  const findListeners = (type: string) =>
    type === "fetch" || type === "scheduled" ? handled[type] : undefined;

  return {
    scope: {
      addEventListener(type, listener, options) {
        const listeners = findListeners(String(type));
        if (listeners === undefined) {
          others.addEventListener(type, listener as never, options as never);
        } else if (listener !== null && listener !== undefined && !listeners.has(listener)) {
          add(listeners, listener, options);
        }
      },
      removeEventListener(type, listener, options) {
        const listeners = findListeners(String(type));
        if (listeners === undefined) others.removeEventListener(type, listener as never, options as never);
        else listeners.delete(listener);
      },
      dispatchEvent(event) {
        const listeners = findListeners(event.type);
        if (listeners === undefined) return others.dispatchEvent(event);
        for (const listener of [...listeners.values()]) listener(event);
        return !event.defaultPrevented;
      },
    },
    listeners: (type) => [...handled[type].values()],
  };
}

function add(listeners: Map<unknown, Listener>, listener: unknown, options: unknown): void {
  const { once, signal } = Object(options) as { once?: boolean; signal?: AbortSignal };
  if (signal?.aborted) return;
  const call = toListener(listener);
  const remove = () => listeners.delete(listener);
  signal?.addEventListener("abort", remove, { once: true });
  function callOnce(event: Event): unknown {
    remove();
    return call(event);
  }
  listeners.set(listener, once ? callOnce : call);
}

function toListener(listener: unknown): Listener {
  if (typeof listener === "function") return (event) => listener.call(globalThis, event) as unknown;
  const { handleEvent } = listener as { handleEvent?: unknown };
  if (typeof listener !== "object" || typeof handleEvent !== "function") {
    throw new TypeError("addEventListener takes a function or an object with a handleEvent method.");
  }
  return (event) => (listener as { handleEvent: Listener }).handleEvent(event);
}
