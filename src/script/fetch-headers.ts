// The Headers a script holds: the standard's, light, and with values that are text (UTF-8 on the wire).
import { headerName, headerValue, textFromBytes } from "./fetch-header-text.ts";
import { native, standInFor } from "./fetch-native.ts";

interface HeaderStore {
  /** By lower-case name, as byte strings; several values of a name joined by commas. */
  values: Map<string, string>;
  /** The one header whose values cannot be joined. */
  cookies: string[] | undefined;
  immutable: boolean;
}

let storeOf: (headers: ScriptHeaders) => HeaderStore;
let isOurs: (value: unknown) => value is ScriptHeaders;

export class ScriptHeaders {
  readonly #store: HeaderStore = { values: new Map(), cookies: undefined, immutable: false };

  static {
    storeOf = (headers) => headers.#store;
    isOurs = (value): value is ScriptHeaders =>
      typeof value === "object" && value !== null && #store in value;
  }

  constructor(init?: unknown) {
    if (init !== undefined) fill(this.#store, init);
  }

  append(name: string, value: string): void {
    append(mutable(this.#store), headerName(name), headerValue(value));
  }

  set(name: string, value: string): void {
    const store = mutable(this.#store);
    const key = headerName(name);
    const bytes = headerValue(value);
    if (key === "set-cookie") store.cookies = [bytes];
    else store.values.set(key, bytes);
  }

  delete(name: string): void {
    const store = mutable(this.#store);
    const key = headerName(name);
    if (key === "set-cookie") store.cookies = undefined;
    else store.values.delete(key);
  }

  get(name: string): string | null {
    const key = headerName(name);
    if (key === "set-cookie") return this.#store.cookies?.map(textFromBytes).join(", ") ?? null;
    const value = this.#store.values.get(key);
    return value === undefined ? null : textFromBytes(value);
  }

  has(name: string): boolean {
    const key = headerName(name);
    return key === "set-cookie" ? this.#store.cookies !== undefined : this.#store.values.has(key);
  }

  getSetCookie(): string[] {
    return this.#store.cookies?.map(textFromBytes) ?? [];
  }

  /** Older than getSetCookie, and still met in scripts. */
  getAll(name: string): string[] {
    if (headerName(name) !== "set-cookie") {
      throw new TypeError(
        'getAll can be used with "Set-Cookie" alone: get gives all values of any other name.',
      );
    }
    return this.getSetCookie();
  }

  forEach(callback: (value: string, name: string, headers: ScriptHeaders) => void, thisArg?: unknown): void {
    for (const [name, value] of this) callback.call(thisArg, value, name, this);
  }

  *entries(): Generator<[string, string], undefined> {
    const { values, cookies } = this.#store;
    const names = [...values.keys()];
    if (cookies !== undefined) names.push("set-cookie");
    for (const name of names.sort()) {
      if (name !== "set-cookie") yield [name, textFromBytes(values.get(name) ?? "")];
      else for (const cookie of cookies ?? []) yield [name, textFromBytes(cookie)];
    }
    return undefined;
  }

  *keys(): Generator<string, undefined> {
    for (const [name] of this.entries()) yield name;
    return undefined;
  }

  *values(): Generator<string, undefined> {
    for (const [, value] of this.entries()) yield value;
    return undefined;
  }

  [Symbol.iterator](): Generator<[string, string], undefined> {
    return this.entries();
  }

  [Symbol.for("nodejs.util.inspect.custom")](
    _depth: number,
    options: object,
    inspect: (value: unknown, options: object) => string,
  ): string {
    return `Headers ${inspect(Object.fromEntries(this), options)}`;
  }
}

standInFor(ScriptHeaders, native.Headers);

function mutable(store: HeaderStore): HeaderStore {
  if (store.immutable) {
    throw new TypeError("These headers cannot be changed: copy them first, with new Headers(headers).");
  }
  return store;
}

function append(store: HeaderStore, name: string, value: string): void {
  if (name === "set-cookie") {
    store.cookies ??= [];
    store.cookies.push(value);
    return;
  }
  const before = store.values.get(name);
  // Browsers may send one cookie a line (RFC 9113 8.2.3); together they are one list, with its own separator.
  const separator = name === "cookie" ? "; " : ", ";
  store.values.set(name, before === undefined ? value : before + separator + value);
}

function fill(store: HeaderStore, init: unknown): void {
  if (isOurs(init)) {
    const { values, cookies } = storeOf(init);
    store.values = new Map(values);
    store.cookies = cookies?.slice();
  } else if (typeof init !== "object" || init === null) {
    throw new TypeError("Headers are made from an object, a list of pairs, or other headers.");
  } else if (init instanceof native.Headers) {
    // Node's own hold byte strings.
    for (const [name, value] of init as Headers) append(store, headerName(name), value);
  } else if (Symbol.iterator in init) {
    for (const pair of init as Iterable<Iterable<unknown>>) {
      const [name, value, ...rest] = pair;
      if (value === undefined || rest.length > 0)
        throw new TypeError("Headers are made from pairs of a name and a value.");
      append(store, headerName(name), headerValue(value));
    }
  } else {
    const fields = init as Readonly<Record<string, unknown>>;
    for (const name of Object.keys(fields)) append(store, headerName(name), headerValue(fields[name]));
  }
}

/** From a connection: names and values in turn, as node:http gives them. A script must not change them. */
export function headersFromRaw(raw: readonly string[]): ScriptHeaders {
  const headers = new ScriptHeaders();
  const store = storeOf(headers);
  for (let index = 1; index < raw.length; index += 2) append(store, headerName(raw[index - 1]), raw[index]!);
  return frozen(headers);
}

/** From byte strings that were checked already, which stay exactly as they are. */
export function headersFromWire(pairs: Iterable<readonly [string, string]>): ScriptHeaders {
  const headers = new ScriptHeaders();
  const store = storeOf(headers);
  for (const [name, value] of pairs) append(store, headerName(name), value);
  return headers;
}

/** From now on nobody may change them. */
export function frozen(headers: ScriptHeaders): ScriptHeaders {
  storeOf(headers).immutable = true;
  return headers;
}

/** What goes on the wire: byte strings, cookies one by one. */
export function wireHeaders(headers: ScriptHeaders): Iterable<[string, string]> {
  const { values, cookies } = storeOf(headers);
  if (cookies === undefined) return values;
  return [...values, ...cookies.map((cookie): [string, string] => ["set-cookie", cookie])];
}
