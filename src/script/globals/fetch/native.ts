// Saves Node's fetch classes before the classes of Store replace them as globals. Instances of both
// pass `instanceof` for either class.
import { inspect } from "node:util";

export const native = {
  Headers: globalThis.Headers,
  Request: globalThis.Request,
  Response: globalThis.Response,
  fetch: globalThis.fetch,
} as const;

interface Class {
  readonly name: string;
  readonly prototype: object;
}

interface StandIn {
  readonly ours: Class;
  readonly theirs: Class & (new (...args: never[]) => object);
  readonly isOurs: (value: unknown) => boolean;
}

const hasInstance = Function.prototype[Symbol.hasInstance];

/** Whether the object is an instance of Node's own class, not of Store's. */
export function isNative(value: unknown, theirs: Class): boolean {
  return hasInstance.call(theirs as never, value);
}

/** Gives Store's class the name of Node's class and enumerable members, as Web IDL requires. */
export function standInFor({ ours, theirs, isOurs }: StandIn): void {
  const { name } = theirs;
  Object.defineProperty(ours, "name", { value: name });
  Object.defineProperty(ours.prototype, Symbol.toStringTag, { value: name, configurable: true });
  makeEnumerable(ours.prototype);
  makeEnumerable(ours);
  // Subclasses defined by a script match only their own instances.
  const isEither = (value: unknown) => isOurs(value) || isNative(value, theirs);
  for (const targetClass of [ours, theirs]) {
    Object.defineProperty(targetClass, Symbol.hasInstance, {
      value(this: Class, value: unknown): boolean {
        return this === targetClass ? isEither(value) : hasInstance.call(this as never, value);
      },
      configurable: true,
    });
  }
}

const notListed = new Set(["constructor", "length", "name", "prototype"]);

function makeEnumerable(target: object): void {
  for (const name of Object.getOwnPropertyNames(target)) {
    if (!notListed.has(name)) Object.defineProperty(target, name, { enumerable: true });
  }
}

/** Defines how the object is logged: its class and these fields. */
export function defineInspection<T extends object>(
  ours: Class & { readonly prototype: T },
  fields: readonly (keyof T)[],
): void {
  Object.defineProperty(ours.prototype, inspect.custom, {
    value(this: T, _depth: number, options: object) {
      const shown = Object.fromEntries(fields.map((field) => [field, this[field]]));
      return `${ours.name} ${inspect(shown, options)}`;
    },
    configurable: true,
    writable: true,
  });
}
