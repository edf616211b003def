// Finds a script's handlers: in its default export (object, function or class) or its listeners.
import type { ScriptContext } from "../context.ts";
import type { ScriptEvents } from "../globals/events.ts";
import type { Environment } from "./environment.ts";
import { HandlersFault, MissingHandler } from "./handlers-fault.ts";
import type { ScriptHandlers } from "./host.ts";
import { WorkerEntrypoint } from "./platform/entrypoints.ts";
import { listenerHandlers } from "./service-worker.ts";

export const handlerNames = ["fetch", "scheduled", "notification"] as const;
type HandlerName = (typeof handlerNames)[number];
type EntryClass = new (context: ScriptContext, env: Environment) => Readonly<Record<string, unknown>>;

/** `exported` is the script's default export. */
export function findHandlers(name: string, exported: unknown, events: ScriptEvents): ScriptHandlers {
  if (typeof exported === "object" && exported !== null) return exported as ScriptHandlers;
  if (typeof exported === "function") {
    if (hasHandler(exported)) return exported as unknown as ScriptHandlers;
    if (isClass(exported)) return classHandlers(exported as unknown as EntryClass);
  }
  const fromListeners = listenerHandlers(events);
  if (exported === undefined && hasHandler(fromListeners)) return fromListeners;
  throw new HandlersFault(
    `The script "${name}" must export its handlers by default: export default { fetch() {} }`,
  );
}

function hasHandler(value: object): boolean {
  return handlerNames.some((name) => typeof (value as ScriptHandlers)[name] === "function");
}

/** Whether the export is a class that may have handlers, as methods or as fields. */
function isClass(value: { readonly prototype?: unknown }): boolean {
  const { prototype } = value;
  if (typeof prototype !== "object" || prototype === null) return false;
  return (
    prototype instanceof WorkerEntrypoint ||
    hasHandler(prototype) ||
    /^class\b/.test(Function.prototype.toString.call(value))
  );
}

/** Creates a new instance for each event, because scripts store state of one request in it. */
function classHandlers(entry: EntryClass): ScriptHandlers {
  function call(name: HandlerName) {
    return (event: unknown, env: Environment, context: ScriptContext): unknown => {
      const instance = new entry(context, env);
      const handler = instance[name];
      if (typeof handler !== "function")
        throw new MissingHandler(`The script's class has no ${name} handler.`);
      return handler.call(instance, event, env, context) as unknown;
    };
  }
  return Object.fromEntries(handlerNames.map((name) => [name, call(name)])) as ScriptHandlers;
}
