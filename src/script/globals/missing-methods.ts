// Methods of the language that older Node versions lack: each is added only where it is missing.
import { types } from "node:util";
import { byteMethods, byteStatics } from "./byte-methods.ts";
import { defineMissing } from "./define.ts";
import { installIteratorMethods } from "./iterator-methods.ts";
import { installSetMethods } from "./set-methods.ts";

type Group = (value: unknown, index: number) => unknown;

function groups(items: Iterable<unknown>, key: Group): Map<unknown, unknown[]> {
  const found = new Map<unknown, unknown[]>();
  let index = 0;
  for (const item of items) {
    const name = key(item, index++);
    const group = found.get(name);
    if (group === undefined) found.set(name, [item]);
    else group.push(item);
  }
  return found;
}

const promiseStatics = {
  withResolvers(this: PromiseConstructor) {
    let resolve: unknown;
    let reject: unknown;
    const promise = new this((...settle) => {
      [resolve, reject] = settle;
    });
    return { promise, resolve, reject };
  },
  try(this: PromiseConstructor, work: (...given: unknown[]) => unknown, ...given: unknown[]) {
    return new this((resolve) => resolve(work(...given)));
  },
};

const arrayStatics = {
  async fromAsync(items: AsyncIterable<unknown> | Iterable<unknown> | ArrayLike<unknown>, map?: Group) {
    const isIterable = Symbol.asyncIterator in items || Symbol.iterator in items;
    const source = isIterable ? items : Array.from(items);
    const result: unknown[] = [];
    for await (const item of source) {
      result.push(map === undefined ? item : await map(item, result.length));
    }
    return result;
  },
};

const objectStatics = {
  groupBy(items: Iterable<unknown>, key: Group) {
    const result = Object.create(null) as Record<PropertyKey, unknown[]>;
    const name = (item: unknown, index: number) => {
      const given = key(item, index);
      return typeof given === "symbol" ? given : String(given);
    };
    for (const [group, members] of groups(items, name)) result[group as PropertyKey] = members;
    return result;
  },
};

const regExpStatics = {
  escape(text: unknown) {
    if (typeof text !== "string") throw new TypeError("RegExp.escape takes a string.");
    const code = (char: string) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`;
    return text
      .replace(/[\^$\\.*+?()[\]{}|/]/g, "\\$&")
      .replace(/^[0-9a-zA-Z]/, code)
      .replace(/[,\-=<>#&!%:;@~'`"\s]/g, (char) => (char.charCodeAt(0) < 256 ? code(char) : char));
  },
};

const bufferMethods = {
  transfer(this: ArrayBuffer, length = this.byteLength) {
    const moved = structuredClone(this, { transfer: [this] });
    if (length === moved.byteLength) return moved;
    const result = new Uint8Array(length);
    result.set(new Uint8Array(moved).subarray(0, length));
    return result.buffer;
  },
};

export function installMissingMethods(): void {
  installIteratorMethods();
  installSetMethods();
  defineMissing(Promise, promiseStatics);
  defineMissing(Array, arrayStatics);
  defineMissing(Object, objectStatics);
  defineMissing(Map, { groupBy: groups });
  defineMissing(Error, { isError: (value: unknown) => types.isNativeError(value) });
  defineMissing(RegExp, regExpStatics);
  defineMissing(ArrayBuffer.prototype, bufferMethods);
  defineMissing(Uint8Array, byteStatics);
  defineMissing(Uint8Array.prototype, byteMethods);
}
