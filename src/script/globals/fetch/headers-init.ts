// Reads the less common forms of `new Headers(init)`, in the order that Web IDL prescribes. The
// caller validates the returned names and values.
import { types } from "node:util";

type Pair = readonly [name: string, value: string];

export function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

export function pairsFromList(list: Iterable<unknown>): readonly Pair[] {
  return Array.from(list, pairFrom);
}

function pairFrom(value: unknown): Pair {
  const pair = isObject(value) && Symbol.iterator in value ? [...(value as Iterable<unknown>)] : [];
  if (pair.length !== 2) throw new TypeError("Headers are made from pairs of a name and a value.");
  return [`${pair[0] as string}`, `${pair[1] as string}`];
}

/** Whether the slow path is needed: proxies observe the order of reads; symbol keys are errors. */
export function isObservable(fields: object): boolean {
  return types.isProxy(fields) || Object.getOwnPropertySymbols(fields).length > 0;
}

export function pairsFromObservable(fields: object): readonly Pair[] {
  const pairs: Pair[] = [];
  for (const key of Reflect.ownKeys(fields)) {
    if (Reflect.getOwnPropertyDescriptor(fields, key)?.enumerable !== true) continue;
    if (typeof key === "symbol" || /[^\0-\xff]/.test(key)) {
      throw new TypeError(`${String(key)} cannot be the name of a header.`);
    }
    pairs.push([key, `${Reflect.get(fields, key) as string}`]);
  }
  return pairs;
}
