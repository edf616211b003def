// Placeholder for an unsupported binding. A script can start with it, copy it and print it; using
// it throws a TypeError that names the missing service.
import console from "node:console";
import { inspect } from "node:util";
import { isOwnFrame } from "../../../binding/call-stack.ts";
import { unsupportedHint } from "../../config/wrangler/bindings.ts";

/** Class of the placeholder: libraries read the class name of every value in env. */
class Unsupported {}

export function unsupportedBinding(binding: string, kind: string): object {
  const description = `[env.${binding}: ${kind}, not supported]`;
  let isLogged = false;
  const fail = (): never => {
    const message = `env.${binding} is ${kind}, which Store does not have.`;
    const error = new TypeError(`${message} ${unsupportedHint}`);
    // The script may catch the error and hide the cause, so it is also logged once.
    if (!isLogged) console.error(`The script has used a binding that is not supported: ${message}`);
    isLogged = true;
    const lines = String(error.stack).split("\n");
    error.stack = lines.filter((line) => !isOwnFrame(line)).join("\n");
    throw error;
  };
  // A function, so that the proxy is callable; bound, to have no non-configurable properties.
  const target = function unsupported() {}.bind(undefined);
  // Defined on the target: util.inspect reads the target, not the proxy.
  Object.defineProperty(target, inspect.custom, { value: () => description, configurable: true });
  return new Proxy(target, {
    get(_, property) {
      if (property === Symbol.toStringTag) return "Unsupported";
      if (property === "toString" || property === Symbol.toPrimitive) return () => description;
      if (property === "toJSON") return () => description;
      // Must not throw: `await` reads "then"; libraries read "constructor" and symbols.
      if (property === "constructor") return Unsupported;
      if (property === "then" || typeof property === "symbol") return undefined;
      return fail();
    },
    has: () => false,
    ownKeys: () => [],
    getOwnPropertyDescriptor: () => undefined,
    apply: fail,
    construct: fail,
    set: fail,
    defineProperty: fail,
    deleteProperty: fail,
  });
}
