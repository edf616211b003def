// A binding of a kind that Store does not have. The script starts with it, can pass it on, copy and print it, and
// gets a TypeError that says what is missing when it uses the binding.
import { inspect } from "node:util";
import { isOwnFrame } from "../../../binding/call-stack.ts";
import { unsupportedHint } from "../../config/wrangler/bindings.ts";

/** Libraries ask every value in env for the name of its class. */
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
  // A function, so that it can be called and constructed; a bound one, since that has no fixed properties.
  const target = function unsupported() {}.bind(undefined);
  // util.inspect reads the target, not the proxy.
  Object.defineProperty(target, inspect.custom, { value: () => description, configurable: true });
  return new Proxy(target, {
    get(_, property) {
      if (property === Symbol.toStringTag) return "Unsupported";
      if (property === "toString" || property === Symbol.toPrimitive) return () => description;
      if (property === "toJSON") return () => description;
      // Read by await, and by libraries that detect the type of a value.
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
