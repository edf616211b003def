// Tests of the page check: a page that shows one instant is valid, a page that mixes two is not.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Operation, State } from "../../../src/prove/consistency/checker.ts";
import { findTornPage } from "../../../src/prove/consistency/pages.ts";

const never = Number.POSITIVE_INFINITY;

function written(...writes: [begin: number, end: number, value: State][]): Operation[] {
  return writes.map(([begin, end, value]) => ({ begin, end, action: { kind: "write", value } }));
}

/** "a" is replaced first, then "b"; "c" is created, deleted and created again. */
const operations = new Map([
  ["a", written([0, 1, "a1"], [10, 11, "a2"])],
  ["b", written([2, 3, "b1"], [20, 21, "b2"])],
  ["c", written([4, 5, "c1"], [30, 31, null], [40, 41, "c2"])],
]);

const right: Record<string, { begin: number; end: number; seen: Record<string, State> }> = {
  "a page read before all writes": { begin: -2, end: -1, seen: { a: null, b: null, c: null } },
  "a page read between two writes": { begin: 5, end: 50, seen: { a: "a2", b: "b1", c: "c1" } },
  "a page read during a write": { begin: 10, end: 11, seen: { a: "a1", b: "b1", c: "c1" } },
  "a page read while a key was absent": { begin: 5, end: 50, seen: { a: "a2", b: "b2", c: null } },
  "a page read after all writes": { begin: 42, end: 50, seen: { a: "a2", b: "b2", c: "c2" } },
};

const wrong: Record<string, { begin: number; end: number; seen: Record<string, State> }> = {
  "a page with a value replaced before another of its values was written": {
    begin: 5,
    end: 50,
    seen: { a: "a1", b: "b2", c: "c1" },
  },
  "a page without a key that existed when its other values were current": {
    begin: 0,
    end: 50,
    seen: { a: "a2", b: "b1", c: null },
  },
  "a page with a value written after the list": { begin: 5, end: 6, seen: { a: "a2", b: "b1", c: "c1" } },
  "a page with a value replaced before the list": { begin: 25, end: 50, seen: { a: "a2", b: "b1", c: "c1" } },
  "a page with a value that was never written": { begin: 5, end: 50, seen: { a: "a3", b: "b1", c: "c1" } },
};

for (const [what, page] of Object.entries(right)) {
  test(`the list page check accepts ${what}`, () =>
    assert.equal(findTornPage([page], operations), undefined));
}

for (const [what, page] of Object.entries(wrong)) {
  test(`the list page check rejects ${what}`, () =>
    assert.match(findTornPage([page], operations) ?? "", /no single instant/));
}

test("after a delete with unknown outcome, a list page may show the key as absent or present", () => {
  const cut = new Map([["a", written([0, 1, "a1"], [2, never, null])]]);
  assert.equal(findTornPage([{ begin: 8, end: 9, seen: { a: null } }], cut), undefined);
  assert.equal(findTornPage([{ begin: 8, end: 9, seen: { a: "a1" } }], cut), undefined);
});
