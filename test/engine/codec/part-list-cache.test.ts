import assert from "node:assert/strict";
import { test } from "node:test";
import { createPartListCache } from "../../../src/engine/codec/part-list-cache.ts";

test("the list of parts that was not used for longest leaves the cache at its limit", () => {
  const cache = createPartListCache<string>(900);
  cache.set("a", "list a", 100);
  cache.set("b", "list b", 100);
  cache.set("c", "list c", 100);
  assert.equal(cache.get("a"), "list a");
  cache.set("d", "list d", 100);
  assert.deepEqual(
    ["a", "b", "c", "d"].map((name) => cache.get(name)),
    ["list a", undefined, "list c", "list d"],
  );
});

test("a list of parts larger than the cache is not cached and evicts nothing", () => {
  const cache = createPartListCache<string>(900);
  cache.set("a", "list a", 100);
  cache.set("large", "large list", 400);
  assert.deepEqual([cache.get("a"), cache.get("large")], ["list a", undefined]);
});

test("a list of parts that replaces another counts once", () => {
  const cache = createPartListCache<string>(900);
  for (let round = 0; round < 10; round++) cache.set("a", `list ${round}`, 150);
  cache.set("b", "list b", 150);
  assert.deepEqual([cache.get("a"), cache.get("b")], ["list 9", "list b"]);
});
