// Scripts in the service-worker syntax: they add listeners instead of exporting handlers, and use
// bindings as globals.
import type { ScriptContext } from "../context.ts";
import { define } from "../globals/define.ts";
import { FetchEvent, ScheduledEvent, type ScriptEvents } from "../globals/events.ts";
import type { Environment } from "./environment.ts";
import { HandlersFault } from "./handlers-fault.ts";
import type { ScriptHandlers } from "./host.ts";

/** Call before importing the script: its top-level code may use the bindings. */
export function defineBindings(env: Environment): void {
  const clash = Object.keys(env).find((name) => name in globalThis);
  if (clash !== undefined) {
    throw new HandlersFault(
      `The script uses addEventListener, so that its bindings are globals, and "${clash}" is a global already: ` +
        "rename the binding, or export the handlers: export default { fetch() {} }",
    );
  }
  define(globalThis, env);
}

/** Creates handlers that call the script's listeners. */
export function listenerHandlers(events: ScriptEvents): ScriptHandlers {
  const has = (type: "fetch" | "scheduled") => events.listeners(type).length > 0;
  return {
    ...(has("fetch") ? { fetch: (request, _, context) => respond(events, request, context) } : {}),
    ...(has("scheduled") ? { scheduled: (event, _, context) => runScheduled(events, event, context) } : {}),
  };
}

function respond(
  events: ScriptEvents,
  request: Request,
  context: ScriptContext,
): Response | Promise<Response> {
  const response = FetchEvent.dispatch(new FetchEvent(request, context), events.listeners("fetch"));
  if (response !== undefined) return response;
  throw new TypeError(
    "No fetch listener called event.respondWith(): call it for every request, before the listener returns.",
  );
}

/** A run succeeds when all promises passed to waitUntil succeed. */
async function runScheduled(
  events: ScriptEvents,
  { cron, scheduledTime }: Pick<ScheduledEvent, "cron" | "scheduledTime">,
  context: ScriptContext,
): Promise<void> {
  const promises: Promise<unknown>[] = [];
  const eventContext: ScriptContext = {
    ...context,
    waitUntil(promise) {
      promises.push(Promise.resolve(promise));
    },
  };
  const event = new ScheduledEvent(cron, scheduledTime, eventContext);
  for (const listener of events.listeners("scheduled")) listener(event);
  // A promise may add further promises while it is awaited.
  for (let i = 0; i < promises.length; i++) await promises[i];
}
