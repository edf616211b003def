// A binding of a kind that Store does not have. The script starts with it, can pass it on, copy and print it, and
// gets a TypeError that says what is missing when it uses the binding.
import { inspect } from "node:util";

/** Libraries ask every value in env for the name of its class. */
class Unsupported {}

export function unsupportedBinding(binding: string, kind: string): object {
  const description = `[env.${binding}: ${kind}, not supported]`;
  const fail = (): never => {
    throw new TypeError(
      `env.${binding} is ${kind}, which Store does not have. What to do instead: docs/migrating.md`,
    );
  };
  // A function, so that it can be called and constructed; a bound one, since that has no fixed properties.
  const target = function unsupported() {}.bind(undefined);
  // Printing looks at the target and not at the proxy.
  Object.defineProperty(target, inspect.custom, { value: () => description, configurable: true });
  return new Proxy(target, {
    get(_, property) {
      if (property === Symbol.toStringTag) return "Unsupported";
      if (property === "toString" || property === Symbol.toPrimitive) return () => description;
      if (property === "toJSON") return () => description;
      // Looked at by await, and by libraries that ask what a value is.
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
