// Pages of a listing must advance, whatever a service sends.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createListingOrder } from "../../src/s3-client/listing-order.ts";

test("pages whose keys and prefixes follow each other are accepted, in the order of their bytes", () => {
  const order = createListingOrder("a");
  for (const [keys, prefixes] of [
    [["b", "d"], ["c/"]],
    [[], []],
    [["e"], ["f/"]],
    [["g/1", "\uffee", "\u{1f431}"], []],
  ] as const)
    order.check(keys, prefixes);
});

test("a page that repeats a key or goes back is refused", () => {
  const pages: readonly (readonly (readonly string[])[])[] = [
    [["a"]],
    [["b"]],
    [["c", "c"]],
    [["e", "d"]],
    [["c"], ["b"]],
    [["\u{1f431}", "\uffee"]],
  ];
  for (const page of pages) {
    const order = createListingOrder();
    order.check(["a", "b"]);
    assert.throws(() => order.check(...page), /repeats keys/, JSON.stringify(page));
  }
  assert.throws(() => createListingOrder("k").check(["k"]), /repeats keys/);
});

test("a listing of nothing but empty pages ends with an error", () => {
  const order = createListingOrder();
  for (let page = 0; page < 1000; page++) order.check([], []);
  order.check(["a"]);
  for (let page = 0; page < 1000; page++) order.check([]);
  assert.throws(() => order.check([]), /more than 1000 empty pages/);
});
