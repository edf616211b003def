// Tests the Headers class of scripts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import fc from "fast-check";
import { incoming, node, script } from "../installed.ts";

test("Headers are constructed from an object, a list of pairs, other Headers and Node's Headers", () => {
  const expected = [
    ["a", "1"],
    ["b", "2"],
  ];
  assert.deepEqual([...new script.Headers({ B: "2", a: 1 })], expected);
  assert.deepEqual(
    [
      ...new script.Headers([
        ["b", "2"],
        ["A", "1"],
      ]),
    ],
    expected,
  );
  assert.deepEqual(
    [
      ...new script.Headers(
        new Map([
          ["b", "2"],
          ["a", "1"],
        ]),
      ),
    ],
    expected,
  );
  assert.deepEqual([...new script.Headers(new script.Headers({ a: "1", b: "2" }))], expected);
  assert.deepEqual([...new script.Headers(new node.Headers({ a: "1", b: "2" }))], expected);
  assert.deepEqual([...new script.Headers()], []);
  assert.throws(() => new script.Headers([["a"]]), TypeError);
  assert.throws(() => new script.Headers([["a", "b", "c"]]), TypeError);
  assert.throws(() => new script.Headers("a: b"), TypeError);
  assert.throws(() => new script.Headers(null), TypeError);
});

test("changing a copy of Headers does not change the original", () => {
  const first = new script.Headers({ a: "1" });
  first.append("set-cookie", "x=1");
  const second = new script.Headers(first);
  second.set("a", "2");
  second.append("set-cookie", "y=2");
  assert.equal(first.get("a"), "1");
  assert.deepEqual(first.getSetCookie(), ["x=1"]);
});

test("Headers ignore the case of names and join several values of one name", () => {
  const headers = new script.Headers();
  headers.append("Accept", "a");
  headers.append("ACCEPT", "b");
  assert.equal(headers.get("accept"), "a, b");
  assert.ok(headers.has("aCCept"));
  headers.set("Accept", "c");
  assert.equal(headers.get("accept"), "c");
  headers.delete("ACCEPT");
  assert.equal(headers.get("accept"), null);
});

test("Headers do not join Set-Cookie values", () => {
  const headers = new script.Headers();
  headers.append("Set-Cookie", "a=1");
  headers.append("x", "y");
  headers.append("set-cookie", "b=2, c");
  assert.deepEqual(headers.getSetCookie(), ["a=1", "b=2, c"]);
  assert.deepEqual(headers.getAll("Set-Cookie"), ["a=1", "b=2, c"]);
  assert.equal(headers.get("set-cookie"), "a=1, b=2, c");
  assert.deepEqual([...headers.keys()], ["set-cookie", "set-cookie", "x"]);
  assert.throws(() => headers.getAll("x"), TypeError);
  headers.set("set-cookie", "d=4");
  assert.deepEqual(headers.getSetCookie(), ["d=4"]);
  headers.delete("set-cookie");
  assert.equal(headers.has("set-cookie"), false);
});

test("Headers methods throw a TypeError that quotes an invalid name or value", () => {
  const headers = new script.Headers();
  for (const name of ["", "a b", "ä", "a:", "a\n"]) assert.throws(() => headers.set(name, "x"), TypeError);
  for (const value of ["a\nb", "a\r\nb", "\0"]) assert.throws(() => headers.set("x", value), TypeError);
  assert.throws(() => headers.set("a b", "x"), /"a b"/);
  assert.throws(() => headers.get("a b"), TypeError);
  headers.set("x", " \t padded\n");
  assert.equal(headers.get("x"), "padded");
});

test("Headers return every value without control characters unchanged", () => {
  const text = fc
    .string({ unit: "binary" })
    .filter((value) => !/[\x00-\x1f\x7f]/.test(value) && value.trim() === value)
    // Characters up to U+00FF that form valid UTF-8 bytes are decoded as UTF-8, so skip them.
    .filter((value) => /[^\x00-\xff]/.test(value) || /^[\x00-\x7f]*$/.test(value));
  fc.assert(
    fc.property(text, (value) => {
      const headers = new script.Headers({ x: value });
      assert.equal(headers.get("x"), value);
      assert.equal(new script.Headers(headers).get("x"), value);
      assert.equal(new script.Headers([...headers]).get("x"), value);
    }),
  );
  assert.equal(new script.Headers({ x: "café" }).get("x"), "café");
});

test("received header bytes are decoded as UTF-8 if they are valid UTF-8, and as Latin-1 otherwise", () => {
  const name = Buffer.from("日本.txt").toString("latin1");
  const { headers } = incoming({ rawHeaders: ["X-Name", name, "X-Old", "caf\xe9"] });
  assert.equal(headers.get("x-name"), "日本.txt");
  assert.equal(headers.get("x-old"), "café");
});

test("iterating over Headers includes changes made during the iteration, and iterators have helper methods", () => {
  const headers = new script.Headers({ b: "2", d: "4" });
  const seen: string[] = [];
  for (const [name] of headers) {
    seen.push(name);
    if (name === "b") headers.set("c", "3");
  }
  assert.deepEqual(seen, ["b", "c", "d"]);
  const iterator = headers.entries();
  assert.equal(Object.prototype.toString.call(iterator), "[object Headers Iterator]");
  const base: unknown = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));
  assert.equal(Object.getPrototypeOf(Object.getPrototypeOf(iterator)), base);
  assert.equal(script.Headers.prototype[Symbol.iterator], script.Headers.prototype.entries);
});

test("Headers methods throw a TypeError for missing arguments, and convert undefined to a string", () => {
  const headers = new script.Headers() as unknown as Record<string, (...args: unknown[]) => unknown>;
  for (const name of ["append", "set", "get", "has", "delete", "forEach"]) {
    assert.throws(() => headers[name]!(), TypeError, name);
  }
  headers.set!("a", undefined);
  assert.equal(headers.get!("a"), "undefined");
});

test("members of Headers are enumerable, as in Node's class", () => {
  for (const name of ["append", "entries", "forEach", "get", "getSetCookie", "keys", "set", "values"]) {
    assert.ok(Object.getOwnPropertyDescriptor(script.Headers.prototype, name)!.enumerable, name);
  }
  assert.equal(Object.getPrototypeOf(script.Headers.prototype), Object.prototype);
});

test("headers of an incoming request are immutable, and a copy of them can be changed", () => {
  const { headers } = incoming({ rawHeaders: ["A", "1"] });
  assert.throws(() => headers.set("a", "2"), TypeError);
  assert.throws(() => headers.append("a", "2"), TypeError);
  assert.throws(() => headers.delete("a"), /copy them first/);
  const copy = new script.Headers(headers);
  copy.set("a", "2");
  assert.equal(copy.get("a"), "2");
});

test("repeated headers of an incoming request are joined", () => {
  const { headers } = incoming({ rawHeaders: ["Cookie", "a=1", "X", "1", "cookie", "b=2", "x", "2"] });
  assert.equal(headers.get("cookie"), "a=1; b=2");
  assert.equal(headers.get("x"), "1, 2");
});

test("forEach, values, entries and util.inspect list Headers sorted by name", () => {
  const headers = new script.Headers({ b: "2", a: "1" });
  const seen: string[] = [];
  headers.forEach((value, name, all) => {
    seen.push(`${name}=${value}`);
    assert.equal(all, headers);
  });
  assert.deepEqual(seen, ["a=1", "b=2"]);
  assert.deepEqual([...headers.values()], ["1", "2"]);
  assert.deepEqual([...headers.entries()], [...headers]);
  assert.equal(inspect(headers), "Headers { a: '1', b: '2' }");
});

test("Store's and Node's Headers are instances of each other's class, but not of derived classes", () => {
  assert.ok(new script.Headers() instanceof Headers);
  assert.ok(new script.Headers() instanceof node.Headers);
  assert.ok(new node.Headers() instanceof Headers);
  assert.ok(!({} instanceof Headers));
  class Derived extends script.Headers {}
  assert.ok(new Derived() instanceof Headers);
  assert.ok(new Derived() instanceof Derived);
  assert.ok(!(new script.Headers() instanceof Derived));
  assert.equal(Headers.name, "Headers");
  assert.equal(Object.prototype.toString.call(new script.Headers()), "[object Headers]");
});

test("random operations on Store's Headers give the same results as on Node's Headers", () => {
  const name = fc.constantFrom("a", "A", "b", "Set-Cookie", "content-type");
  const value = fc.string({ unit: fc.constantFrom("x", " ", ",", "=", "\t"), maxLength: 4 });
  const step = fc.oneof(
    fc.tuple(fc.constant("append" as const), name, value),
    fc.tuple(fc.constant("set" as const), name, value),
    fc.tuple(fc.constant("delete" as const), name, value),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const [ours, theirs] = [new script.Headers(), new node.Headers()];
      for (const [method, header, text] of steps) {
        ours[method](header, text);
        theirs[method](header, text);
      }
      assert.deepEqual([...ours], [...theirs]);
      assert.deepEqual(ours.getSetCookie(), theirs.getSetCookie());
    }),
  );
});
