// JavaScript methods that older Node versions lack. Each is added only if it is missing.
import { types } from "node:util";
import { addArrayBufferTransfer } from "./array-buffer-transfer.ts";
import { addArrayFromAsync } from "./array-from-async.ts";
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
  try(this: PromiseConstructor, work: (...args: unknown[]) => unknown, ...args: unknown[]) {
    return new this((resolve) => resolve(work(...args)));
  },
};

const objectStatics = {
  groupBy(items: Iterable<unknown>, key: Group) {
    const result = Object.create(null) as Record<PropertyKey, unknown[]>;
    const name = (item: unknown, index: number) => {
      const groupKey = key(item, index);
      return typeof groupKey === "symbol" ? groupKey : String(groupKey);
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

export function installMissingMethods(): void {
  installIteratorMethods();
  installSetMethods();
  defineMissing(Promise, promiseStatics);
  addArrayFromAsync();
  defineMissing(Object, objectStatics);
  defineMissing(Map, { groupBy: groups });
  defineMissing(Error, { isError: (value: unknown) => types.isNativeError(value) });
  defineMissing(RegExp, regExpStatics);
  addArrayBufferTransfer();
  defineMissing(Uint8Array, byteStatics);
  defineMissing(Uint8Array.prototype, byteMethods);
}
