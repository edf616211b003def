// The Headers class of scripts: a faster implementation of the standard, with values as text (UTF-8
// on the wire).
import { inspect } from "node:util";
import { headerName, headerValue, textFromBytes } from "./header-value.ts";
import { isObject, isObservable, pairsFromList, pairsFromObservable } from "./headers-init.ts";
import { iterateHeaders } from "./headers-iterator.ts";
import { native, standInFor } from "./native.ts";

interface HeaderStore {
  /** Byte strings by lower-case name; several values of a header are joined by commas. */
  values: Map<string, string>;
  /** Values of Set-Cookie, the only header whose values cannot be joined. */
  cookies: string[] | undefined;
  immutable: boolean;
  /** Cache of all pairs as text in iteration order; undefined after a change. */
  sorted: readonly (readonly [string, string])[] | undefined;
}

let getStore: (headers: ScriptHeaders) => HeaderStore;
let isOurs: (value: unknown) => value is ScriptHeaders;

export class ScriptHeaders {
  readonly #store: HeaderStore = {
    values: new Map(),
    cookies: undefined,
    immutable: false,
    sorted: undefined,
  };

  static {
    getStore = (headers) => headers.#store;
    isOurs = (value): value is ScriptHeaders =>
      typeof value === "object" && value !== null && #store in value;
  }

  constructor(init: unknown = undefined) {
    if (init !== undefined) fill(this.#store, init);
  }

  append(name: string, value: string): void {
    const store = this.#store;
    requireArguments(arguments.length, 2);
    const key = headerName(name);
    append(requireMutable(store), key, headerValue(value));
  }

  set(name: string, value: string): void {
    const store = this.#store;
    requireArguments(arguments.length, 2);
    const key = headerName(name);
    const bytes = headerValue(value);
    requireMutable(store);
    if (key === "set-cookie") store.cookies = [bytes];
    else store.values.set(key, bytes);
  }

  delete(name: string): void {
    const store = this.#store;
    requireArguments(arguments.length, 1);
    const key = headerName(name);
    requireMutable(store);
    if (key === "set-cookie") store.cookies = undefined;
    else store.values.delete(key);
  }

  get(name: string): string | null {
    const store = this.#store;
    requireArguments(arguments.length, 1);
    const key = headerName(name);
    if (key === "set-cookie") return store.cookies?.map(textFromBytes).join(", ") ?? null;
    const value = store.values.get(key);
    return value === undefined ? null : textFromBytes(value);
  }

  has(name: string): boolean {
    const store = this.#store;
    requireArguments(arguments.length, 1);
    const key = headerName(name);
    return key === "set-cookie" ? store.cookies !== undefined : store.values.has(key);
  }

  getSetCookie(): string[] {
    return this.#store.cookies?.map(textFromBytes) ?? [];
  }

  /** The predecessor of getSetCookie, still used by scripts. */
  getAll(name: string): string[] {
    if (headerName(name) !== "set-cookie") {
      throw new TypeError(
        'getAll can be used with "Set-Cookie" only: get returns all values of any other name.',
      );
    }
    return this.getSetCookie();
  }

  forEach(
    callback: (value: string, name: string, headers: ScriptHeaders) => void,
    thisArg: unknown = undefined,
  ): void {
    const store = this.#store;
    if (typeof callback !== "function") throw new TypeError("forEach needs a function.");
    for (let index = 0; index < sorted(store).length; index++) {
      const [name, value] = sorted(store)[index]!;
      callback.call(thisArg, value, name, this);
    }
  }

  entries(): IterableIterator<[string, string]> {
    const store = this.#store;
    return iterateHeaders(() => sorted(store), "entry");
  }

  keys(): IterableIterator<string> {
    const store = this.#store;
    return iterateHeaders(() => sorted(store), "name");
  }

  values(): IterableIterator<string> {
    const store = this.#store;
    return iterateHeaders(() => sorted(store), "value");
  }

  declare [Symbol.iterator]: () => IterableIterator<[string, string]>;
}

const { entries } = ScriptHeaders.prototype;
Object.defineProperty(ScriptHeaders.prototype, Symbol.iterator, {
  value: entries,
  configurable: true,
  writable: true,
});
standInFor({ ours: ScriptHeaders, theirs: native.Headers, isOurs });
Object.defineProperty(ScriptHeaders.prototype, inspect.custom, {
  value(this: ScriptHeaders, _depth: number, options: object) {
    return `Headers ${inspect(Object.fromEntries(this), options)}`;
  },
  configurable: true,
  writable: true,
});

function requireArguments(count: number, needed: number): void {
  if (count < needed) {
    throw new TypeError(`${needed} argument${needed === 1 ? "" : "s"} needed, but only ${count} given.`);
  }
}

function requireMutable(store: HeaderStore): HeaderStore {
  if (store.immutable) {
    throw new TypeError("These headers cannot be changed: copy them first, with new Headers(headers).");
  }
  store.sorted = undefined;
  return store;
}

function sorted(store: HeaderStore): readonly (readonly [string, string])[] {
  store.sorted ??= sort(store);
  return store.sorted;
}

function sort({ values, cookies }: HeaderStore): (readonly [string, string])[] {
  const names = [...values.keys()];
  if (cookies !== undefined) names.push("set-cookie");
  const pairs: [string, string][] = [];
  for (const name of names.sort()) {
    if (name !== "set-cookie") pairs.push([name, textFromBytes(values.get(name)!)]);
    else for (const cookie of cookies!) pairs.push([name, textFromBytes(cookie)]);
  }
  return pairs;
}

function append(store: HeaderStore, name: string, value: string): void {
  if (name === "set-cookie") {
    store.cookies ??= [];
    store.cookies.push(value);
    return;
  }
  const before = store.values.get(name);
  // Cookies that a client sends in separate headers are joined by semicolons (RFC 9113 8.2.3).
  const separator = name === "cookie" ? "; " : ", ";
  store.values.set(name, before === undefined ? value : before + separator + value);
}

const nativeEntries = native.Headers.prototype[Symbol.iterator];

function fill(store: HeaderStore, init: unknown): void {
  if (!isObject(init)) {
    throw new TypeError("Headers are made from an object, a list of pairs, or other headers.");
  }
  const iterate: unknown = (init as { [Symbol.iterator]?: unknown })[Symbol.iterator];
  if (iterate === undefined || iterate === null) {
    fillFromRecord(store, init as Readonly<Record<string, unknown>>);
  } else if (iterate === entries && isOurs(init)) {
    const { values, cookies } = getStore(init);
    store.values = new Map(values);
    store.cookies = cookies?.slice();
  } else if (iterate === nativeEntries) {
    // Node's Headers already contain validated byte strings.
    for (const [name, value] of init as Headers) append(store, headerName(name), value);
  } else {
    for (const [name, value] of pairsFromList(init as Iterable<unknown>))
      append(store, headerName(name), headerValue(value));
  }
}

function fillFromRecord(store: HeaderStore, fields: Readonly<Record<string, unknown>>): void {
  if (isObservable(fields)) {
    for (const [name, value] of pairsFromObservable(fields))
      append(store, headerName(name), headerValue(value));
  } else {
    for (const name of Object.keys(fields)) append(store, headerName(name), headerValue(fields[name]));
  }
}

/** Creates immutable headers from alternating names and values, as node:http returns them. */
export function headersFromRaw(raw: readonly string[]): ScriptHeaders {
  const headers = new ScriptHeaders();
  const store = getStore(headers);
  for (let index = 1; index < raw.length; index += 2) append(store, headerName(raw[index - 1]), raw[index]!);
  return freezeHeaders(headers);
}

/** Creates headers from byte strings that were already validated; values are not changed. */
export function headersFromWire(pairs: Iterable<readonly [string, string]>): ScriptHeaders {
  const headers = new ScriptHeaders();
  const store = getStore(headers);
  for (const [name, value] of pairs) append(store, headerName(name), value);
  return headers;
}

/** Makes the headers immutable. */
export function freezeHeaders(headers: ScriptHeaders): ScriptHeaders {
  getStore(headers).immutable = true;
  return headers;
}

/** Returns the headers as byte strings for sending; each cookie is a separate pair. */
export function wireHeaders(headers: ScriptHeaders): Iterable<[string, string]> {
  const { values, cookies } = getStore(headers);
  if (cookies === undefined) return values;
  return [...values, ...cookies.map((cookie): [string, string] => ["set-cookie", cookie])];
}
