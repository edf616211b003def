// The iterator of Headers, as in Web IDL: it is live, so changes during the iteration are visible,
// and it has its own prototype object.

type Pair = readonly [name: string, value: string];
type Kind = "entry" | "name" | "value";

const iteratorPrototype: object = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));

class HeadersIterator {
  readonly #pairs: () => readonly Pair[];
  readonly #kind: Kind;
  #index = 0;

  constructor(pairs: () => readonly Pair[], kind: Kind) {
    this.#pairs = pairs;
    this.#kind = kind;
  }

  next(): IteratorResult<unknown, undefined> {
    const pair = this.#pairs()[this.#index];
    if (pair === undefined) return { value: undefined, done: true };
    this.#index++;
    const [name, value] = pair;
    if (this.#kind === "entry") return { value: [name, value], done: false };
    return { value: this.#kind === "name" ? name : value, done: false };
  }
}

Object.setPrototypeOf(HeadersIterator.prototype, iteratorPrototype);
Reflect.deleteProperty(HeadersIterator.prototype, "constructor");
Object.defineProperty(HeadersIterator.prototype, "next", { enumerable: true });
Object.defineProperty(HeadersIterator.prototype, Symbol.toStringTag, {
  value: "Headers Iterator",
  configurable: true,
});

/** `pairs` returns the current list on each call, in iteration order. */
export function iterateHeaders<T>(pairs: () => readonly Pair[], kind: Kind): IterableIterator<T> {
  return new HeadersIterator(pairs, kind) as unknown as IterableIterator<T>;
}
