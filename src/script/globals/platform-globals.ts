// Globals of Cloudflare Workers, other than fetch, streams and crypto.
import console from "node:console";
import { createRequire } from "node:module";
import { errorMessage } from "../../model/errors.ts";
import { define, defineLazily, defineMissing } from "./define.ts";
import { CloseEvent, ErrorEvent, PromiseRejectionEvent } from "./event-classes.ts";
import {
  createScriptEvents,
  ExtendableEvent,
  FetchEvent,
  ScheduledEvent,
  type ScriptEvents,
} from "./events.ts";
import { installMissingMethods } from "./missing-methods.ts";
import { installNavigator } from "./navigator.ts";
import { Scheduler } from "./scheduler.ts";
import { installNumberTimers } from "./timers.ts";

/** Call once per process. Returns the events to which the script adds listeners. */
export function installPlatformGlobals(): ScriptEvents {
  const events = createScriptEvents();
  define(globalThis, {
    ...events.scope,
    self: globalThis,
    scheduler: new Scheduler(),
    ...{ Scheduler, ExtendableEvent, FetchEvent, ScheduledEvent, WebSocketPair },
    reportError(error: unknown) {
      const message = errorMessage(error);
      const event = new ErrorEvent("error", { error, message, cancelable: true });
      if (events.scope.dispatchEvent(event)) console.error("Reported:", error);
    },
  });
  defineMissing(globalThis, { CloseEvent, ErrorEvent, PromiseRejectionEvent });
  if (!("URLPattern" in globalThis)) defineLazily(globalThis, "URLPattern", loadUrlPattern);
  installNavigator("Store");
  installMissingMethods();
  installNumberTimers();
  return events;
}

/** Loads URLPattern on first use, synchronously, so a dynamic import is not possible. */
function loadUrlPattern(): unknown {
  const require = createRequire(import.meta.url);
  return (require("urlpattern-polyfill/urlpattern") as { URLPattern: unknown }).URLPattern;
}

class WebSocketPair {
  constructor() {
    throw new Error(
      "Store does not support WebSocketPair in a process: such a script cannot accept WebSocket " +
        'connections. Run it with isolation = "sandbox", where it can.',
    );
  }
}
