// Runs a script's notification handler: an event counts as handled once the handler, and whatever it gave to
// waitUntil, has come to a good end.

import type { ScriptContext } from "../context.ts";
import type { Environment } from "./environment.ts";
import type { ScriptHandlers } from "./host.ts";
import type { NotificationMessage, Notified } from "./messages.ts";
import { logError } from "./script-error.ts";

export async function handleAll(
  handlers: ScriptHandlers,
  env: Environment,
  context: ScriptContext,
  events: readonly NotificationMessage[],
): Promise<Notified> {
  const handled: number[] = [];
  let error: string | undefined;
  /** By key: those of one in order, those of several at the same time. */
  const places = new Map<string, number[]>();
  for (const [place, { key }] of events.entries()) places.set(key, [...(places.get(key) ?? []), place]);

  async function handleKey(of: readonly number[]): Promise<void> {
    for (const place of of) {
      try {
        await handle(handlers, env, context, events[place]!);
        handled.push(place);
      } catch (fault) {
        logError(fault);
        error ??= fault instanceof Error ? fault.message : String(fault);
        return;
      }
    }
  }
  await Promise.all(Array.from(places.values(), handleKey));
  return { handled, error };
}

async function handle(
  handlers: ScriptHandlers,
  env: Environment,
  context: ScriptContext,
  { time, ...event }: NotificationMessage,
): Promise<void> {
  if (handlers.notification === undefined)
    throw new TypeError("The script's default export has no notification handler.");
  const given: Promise<unknown>[] = [];
  const own: ScriptContext = {
    ...context,
    waitUntil(promise) {
      // Told to the handler's caller, and so not twice in the log.
      given.push(Promise.resolve(promise));
      context.waitUntil(Promise.resolve(promise).catch(() => {}));
    },
  };
  await handlers.notification({ type: "notification", ...event, time: new Date(time) }, env, own);
  // One may have asked for another.
  for (let settled = 0; settled < given.length; settled++) await given[settled];
}
