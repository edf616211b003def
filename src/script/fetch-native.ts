// Node's own fetch classes, kept from before a script's globals took their names, and how ours stand in for
// them: `instanceof` holds in both directions.

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

/** What is ours is an instance of Node's class too, and what is Node's is one of ours. */
export function standInFor(ours: Class, theirs: Class & (new (...args: never[]) => object)): void {
  Object.setPrototypeOf(ours.prototype, theirs.prototype);
  Object.defineProperty(ours, "name", { value: theirs.name });
  Object.defineProperty(ours, Symbol.hasInstance, {
    value(this: Class, value: unknown): boolean {
      if (this === ours) return value instanceof theirs;
      // A class that a script derived from ours knows its own alone.
      return Function.prototype[Symbol.hasInstance].call(this as never, value);
    },
  });
}
