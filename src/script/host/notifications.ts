// Runs a script's notification handler: an event counts as handled once the handler and every
// promise passed to waitUntil have succeeded.
import { errorMessage } from "../../model/errors.ts";
import type { ScriptContext } from "../context.ts";
import type { Environment } from "./environment.ts";
import { MissingHandler } from "./handlers-fault.ts";
import type { ScriptHandlers } from "./host.ts";
import type { NotificationMessage, NotificationResult } from "./messages.ts";
import { logError } from "./script-error.ts";

const missingHandler = "the script's default export has no notification handler: add one, or remove the rule";

export async function handleAll(
  handlers: ScriptHandlers,
  env: Environment,
  context: ScriptContext,
  events: readonly NotificationMessage[],
): Promise<NotificationResult> {
  // Not logged as an error of the script: the server reports the failed delivery once.
  if (handlers.notification === undefined) return { handled: [], error: missingHandler };
  const handled: number[] = [];
  let error: string | undefined;
  /** Event indexes by key: events of one key run in order, different keys concurrently. */
  const indexesByKey = new Map<string, number[]>();
  for (const [index, { key }] of events.entries())
    indexesByKey.set(key, [...(indexesByKey.get(key) ?? []), index]);

  async function handleKey(indexes: readonly number[]): Promise<void> {
    for (const index of indexes) {
      try {
        await handle(handlers, env, context, events[index]!);
        handled.push(index);
      } catch (fault) {
        if (!(fault instanceof MissingHandler)) logError(fault);
        error ??= errorMessage(fault);
        return;
      }
    }
  }
  await Promise.all(Array.from(indexesByKey.values(), handleKey));
  return { handled, error };
}

async function handle(
  handlers: ScriptHandlers,
  env: Environment,
  context: ScriptContext,
  { time, ...event }: NotificationMessage,
): Promise<void> {
  const promises: Promise<unknown>[] = [];
  const eventContext: ScriptContext = {
    ...context,
    waitUntil(promise) {
      // The caller of the handler receives the error, so it is not logged here.
      promises.push(Promise.resolve(promise));
      context.waitUntil(Promise.resolve(promise).catch(() => {}));
    },
  };
  await handlers.notification!({ type: "notification", ...event, time: new Date(time) }, env, eventContext);
  // A promise may add further promises while it is awaited.
  for (let i = 0; i < promises.length; i++) await promises[i];
}
