// Array.fromAsync, for Node versions without it.

async function fromAsync(
  source: AsyncIterable<unknown> | Iterable<unknown> | ArrayLike<unknown>,
  map: ((value: unknown, index: number) => unknown) | undefined = undefined,
  thisArg: unknown = undefined,
): Promise<unknown[]> {
  if (map !== undefined && typeof map !== "function")
    throw new TypeError("The second argument must be a function.");
  const isIterable = Symbol.asyncIterator in Object(source) || Symbol.iterator in Object(source);
  const items = isIterable ? (source as AsyncIterable<unknown>) : Array.from(source as ArrayLike<unknown>);
  const list: unknown[] = [];
  for await (const item of items) {
    list.push(map === undefined ? item : await map.call(thisArg, item, list.length));
  }
  return list;
}

export function addArrayFromAsync(): void {
  if ("fromAsync" in Array) return;
  Object.defineProperty(Array, "fromAsync", { value: fromAsync, writable: true, configurable: true });
}
