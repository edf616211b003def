// JavaScript methods that older Node versions lack. Newer versions are tested with their own
// methods.
import assert from "node:assert/strict";
import { test } from "node:test";
import "./installed.ts";

type Anything = (...given: unknown[]) => never;
type Methods = Readonly<Record<string, Anything>>;
const statics = <T extends object>(value: T) => value as unknown as Methods;
const naturals = function* (log?: string[]) {
  try {
    for (let value = 1; ; value++) yield value;
  } finally {
    log?.push("closed");
  }
};
const lazy = (values: Iterator<unknown>) =>
  values as unknown as Record<string, (...given: unknown[]) => Chain>;
interface Chain extends Record<string, (...given: unknown[]) => Chain> {}

test("iterator methods are lazy, can be chained, and close their source", () => {
  const log: string[] = [];
  const even = lazy(naturals(log)).filter!((value: unknown) => (value as number) % 2 === 0);
  const chained = even.map!((value: unknown, index: unknown) => [value, index]).drop!(1).take!(2);
  assert.deepEqual(chained.toArray!(), [
    [4, 1],
    [6, 2],
  ]);
  assert.deepEqual(log, ["closed"]);
});

test("the iterator methods reduce, some, every, find, forEach, flatMap and from work", () => {
  const few = () => lazy([1, 2, 3].values());
  const sum = (a: unknown, b: unknown) => (a as number) + (b as number);
  assert.deepEqual([few().reduce!(sum), few().reduce!(sum, 10)], [6, 16]);
  assert.deepEqual(
    [few().some!((n: unknown) => n === 2), few().every!((n: unknown) => n === 2)],
    [true, false],
  );
  assert.equal(
    few().find!((n: unknown) => n === 3),
    3,
  );
  const seen: unknown[] = [];
  few().forEach!((value: unknown, index: unknown) => seen.push([value, index]));
  assert.deepEqual(seen, [[1, 0], [2, 1], [3, 2]]); // biome-ignore format: one line reads better
  assert.deepEqual(few().flatMap!((n: unknown) => [n, n]).toArray!(), [1, 1, 2, 2, 3, 3]);
  const { Iterator } = globalThis as unknown as { Iterator: Methods & (new () => object) };
  let left = 2;
  const bare = { next: () => (left-- > 0 ? { done: false, value: left } : { done: true, value: undefined }) };
  assert.deepEqual(lazy(Iterator.from!(bare)).map!(String).toArray!(), ["1", "0"]);
  assert.deepEqual(lazy(Iterator.from!("ab")).toArray!(), ["a", "b"]);
  assert.ok([].values() instanceof (Iterator as unknown as new () => object));
  assert.throws(() => new Iterator(), TypeError);
  assert.throws(() => lazy(naturals()).take!(-1), RangeError);
  assert.throws(() => lazy(naturals()).map!(1), TypeError);
  assert.throws(() => lazy([].values()).reduce!(sum), TypeError);
});

test("sets have union, intersection, difference and comparison methods", () => {
  const set = (...values: unknown[]) => new Set(values) as unknown as Methods;
  const [a, b] = [set(1, 2, 3), set(3, 4)];
  assert.deepEqual([...(a.union!(b) as Iterable<number>)], [1, 2, 3, 4]);
  assert.deepEqual([...(a.intersection!(b) as Iterable<number>)], [3]);
  assert.deepEqual([...(a.difference!(b) as Iterable<number>)], [1, 2]);
  assert.deepEqual([...(a.symmetricDifference!(b) as Iterable<number>)], [1, 2, 4]);
  assert.deepEqual(
    [set(3).isSubsetOf!(a), a.isSupersetOf!(set(1)), a.isDisjointFrom!(set(9))],
    [true, true, true],
  );
  assert.deepEqual([a.isSubsetOf!(b), a.isSupersetOf!(b), a.isDisjointFrom!(b)], [false, false, false]);
  assert.throws(() => a.union!([1]), TypeError);
});

test("Promise.withResolvers and Promise.try create promises", async () => {
  const { promise, resolve } = statics(Promise).withResolvers!() as {
    promise: Promise<unknown>;
    resolve: (value: unknown) => void;
  };
  resolve("value");
  assert.equal(await promise, "value");
  assert.equal(await statics(Promise).try!((a: number, b: number) => a + b, 1, 2), 3);
  const failing = () => {
    throw new RangeError("thrown");
  };
  await assert.rejects(statics(Promise).try!(failing) as Promise<never>, RangeError);
});

test("Object.groupBy and Map.groupBy group values, and Array.fromAsync reads async iterables", async () => {
  const kind = (value: unknown) => ((value as number) % 2 === 0 ? "even" : "odd");
  assert.deepEqual({ ...(statics(Object).groupBy!([1, 2, 3], kind) as object) }, { odd: [1, 3], even: [2] });
  const groups = statics(Map).groupBy!([1, 2, 3], kind) as Map<string, number[]>;
  assert.deepEqual([...groups], [["odd", [1, 3]], ["even", [2]]]); // biome-ignore format: one line reads better
  const later = async function* () {
    yield 1;
    yield 2;
  };
  assert.deepEqual(await statics(Array).fromAsync!(later()), [1, 2]);
  assert.deepEqual(
    await statics(Array).fromAsync!([Promise.resolve(1), 2], (n: unknown) => Number(n) * 2),
    [2, 4],
  );
  assert.deepEqual(await statics(Array).fromAsync!({ length: 1, 0: "x" }), ["x"]);
});

test("Uint8Array converts bytes to base64 and hex, and back", () => {
  const bytes = new Uint8Array([251, 255, 0, 1]);
  const methods = bytes as unknown as Methods;
  assert.deepEqual([methods.toBase64!(), methods.toHex!()], ["+/8AAQ==", "fbff0001"]);
  assert.equal(methods.toBase64!({ alphabet: "base64url", omitPadding: true }), "-_8AAQ");
  assert.equal(methods.toBase64!({ alphabet: "base64url" }), "-_8AAQ==");
  assert.deepEqual(statics(Uint8Array).fromBase64!("+/8A AQ=="), bytes);
  assert.deepEqual(statics(Uint8Array).fromBase64!("-_8AAQ", { alphabet: "base64url" }), bytes);
  assert.deepEqual(statics(Uint8Array).fromHex!("FBff0001"), bytes);
  for (const wrong of ["a", "-_8A", "a===", "ä"]) {
    assert.throws(() => statics(Uint8Array).fromBase64!(wrong), SyntaxError, wrong);
  }
  assert.throws(() => statics(Uint8Array).fromHex!("abc"), SyntaxError);
});

test("Error.isError, RegExp.escape and ArrayBuffer.transfer work", () => {
  assert.deepEqual([statics(Error).isError!(new TypeError()), statics(Error).isError!({})], [true, false]);
  const escaped = statics(RegExp).escape!("1+1=2 (a-b)") as string;
  assert.match("1+1=2 (a-b)", new RegExp(`^${escaped}$`));
  const buffer = new Uint8Array([1, 2, 3]).buffer;
  const moved = (buffer as unknown as Methods).transfer!(2) as ArrayBuffer;
  assert.deepEqual([buffer.byteLength, ...new Uint8Array(moved)], [0, 1, 2]);
});
