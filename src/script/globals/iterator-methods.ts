// Iterator methods (map, filter, take …) for Node versions without them.
import { define } from "./define.ts";

type Step<T> = (value: unknown, index: number) => T;
type Lazy = Iterator<unknown>;

/** Iterates, and closes the iterator when the loop ends early. */
function loop(iterator: Lazy): Iterable<unknown> {
  return { [Symbol.iterator]: () => iterator as IterableIterator<unknown> };
}

function checkFunction(value: unknown): void {
  if (typeof value !== "function") throw new TypeError(`${String(value)} is not a function`);
}

function toCount(value: unknown): number {
  const count = Number(value);
  if (Number.isNaN(count)) throw new RangeError(`${String(value)} must be a number`);
  const whole = Math.trunc(count);
  if (whole < 0) throw new RangeError(`${String(value)} must not be negative`);
  return whole;
}

/** Accepts an iterable or an iterator. Strings are refused unless the caller allows them. */
function toIterator(value: unknown, strings: "allowed" | "refused"): Lazy {
  const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
  if (!isObject && !(typeof value === "string" && strings === "allowed")) {
    throw new TypeError(`${String(value)} is not an object`);
  }
  const method = (value as Partial<Iterable<unknown>>)[Symbol.iterator];
  const iterator = method === undefined || method === null ? value : method.call(value);
  if (typeof iterator !== "object" || iterator === null)
    throw new TypeError(`${String(value)} is not iterable`);
  return iterator as Lazy;
}

const generators = {
  *map(source: Lazy, step: Step<unknown>) {
    let index = 0;
    for (const value of loop(source)) yield step(value, index++);
  },
  *filter(source: Lazy, step: Step<unknown>) {
    let index = 0;
    for (const value of loop(source)) if (step(value, index++)) yield value;
  },
  *flatMap(source: Lazy, step: Step<unknown>) {
    let index = 0;
    for (const value of loop(source)) yield* loop(toIterator(step(value, index++), "refused"));
  },
  *take(source: Lazy, count: number) {
    let left = count;
    if (left === 0) {
      source.return?.();
      return;
    }
    for (const value of loop(source)) {
      yield value;
      if (--left === 0) return;
    }
  },
  *drop(source: Lazy, count: number) {
    let left = count;
    for (const value of loop(source)) {
      if (left > 0) left--;
      else yield value;
    }
  },
};

const methods = {
  map(this: Lazy, step: Step<unknown>) {
    checkFunction(step);
    return generators.map(this, step);
  },
  filter(this: Lazy, step: Step<unknown>) {
    checkFunction(step);
    return generators.filter(this, step);
  },
  flatMap(this: Lazy, step: Step<unknown>) {
    checkFunction(step);
    return generators.flatMap(this, step);
  },
  take(this: Lazy, count: unknown) {
    return generators.take(this, toCount(count));
  },
  drop(this: Lazy, count: unknown) {
    return generators.drop(this, toCount(count));
  },
  reduce(this: Lazy, step: (sum: unknown, value: unknown, index: number) => unknown, ...initial: unknown[]) {
    checkFunction(step);
    let index = 0;
    let sum = initial[0];
    let isEmpty = initial.length === 0;
    for (const value of loop(this)) {
      sum = isEmpty ? value : step(sum, value, index);
      isEmpty = false;
      index++;
    }
    if (isEmpty) throw new TypeError("Reduce of a done iterator with no initial value");
    return sum;
  },
  toArray(this: Lazy) {
    return [...loop(this)];
  },
  forEach(this: Lazy, step: Step<unknown>) {
    checkFunction(step);
    let index = 0;
    for (const value of loop(this)) step(value, index++);
  },
  some(this: Lazy, step: Step<unknown>) {
    checkFunction(step);
    let index = 0;
    for (const value of loop(this)) if (step(value, index++)) return true;
    return false;
  },
  every(this: Lazy, step: Step<unknown>) {
    checkFunction(step);
    let index = 0;
    for (const value of loop(this)) if (!step(value, index++)) return false;
    return true;
  },
  find(this: Lazy, step: Step<unknown>) {
    checkFunction(step);
    let index = 0;
    for (const value of loop(this)) if (step(value, index++)) return value;
    return undefined;
  },
};

/** Adds the global Iterator and its methods if Node does not have them. */
export function installIteratorMethods(): void {
  if ("Iterator" in globalThis) return;
  const prototype = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())) as object;

  function Iterator(this: unknown): void {
    if (new.target === undefined || new.target === (Iterator as unknown)) {
      throw new TypeError("Iterator is an abstract class: extend it.");
    }
  }
  Object.defineProperty(Iterator, "prototype", { value: prototype, writable: false });
  define(Iterator, {
    from(value: unknown) {
      const source = toIterator(value, "allowed");
      if (Object.prototype.isPrototypeOf.call(prototype, source)) return source;
      return Object.assign(Object.create(prototype) as object, {
        next: (...args: []) => source.next(...args),
        return: (...args: []) => source.return?.(...args) ?? { done: true, value: undefined },
      });
    },
  });
  define(prototype, { ...methods, constructor: Iterator, [Symbol.toStringTag]: "Iterator" });
  define(globalThis, { Iterator });
}
