// The check of pages: one that shows an instant is accepted, one that mixes two is found.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Operation, State } from "./checker.ts";
import { findTornPage } from "./pages.ts";

const never = Number.POSITIVE_INFINITY;

function written(...writes: [begin: number, end: number, value: State][]): Operation[] {
  return writes.map(([begin, end, value]) => ({ begin, end, action: { kind: "write", value } }));
}

/** "a" is replaced first, "b" after it; "c" comes and goes. */
const operations = new Map([
  ["a", written([0, 1, "a1"], [10, 11, "a2"])],
  ["b", written([2, 3, "b1"], [20, 21, "b2"])],
  ["c", written([4, 5, "c1"], [30, 31, null], [40, 41, "c2"])],
]);

const right: Record<string, { begin: number; end: number; seen: Record<string, State> }> = {
  "before all": { begin: -2, end: -1, seen: { a: null, b: null, c: null } },
  "between the writes": { begin: 5, end: 50, seen: { a: "a2", b: "b1", c: "c1" } },
  "beside a write": { begin: 10, end: 11, seen: { a: "a1", b: "b1", c: "c1" } },
  "while one is gone": { begin: 5, end: 50, seen: { a: "a2", b: "b2", c: null } },
  "after all": { begin: 42, end: 50, seen: { a: "a2", b: "b2", c: "c2" } },
};

const wrong: Record<string, { begin: number; end: number; seen: Record<string, State> }> = {
  "an old value beside a later one": { begin: 5, end: 50, seen: { a: "a1", b: "b2", c: "c1" } },
  "a value beside the absence of one that was there": {
    begin: 0,
    end: 50,
    seen: { a: "a2", b: "b1", c: null },
  },
  "what was written after the list": { begin: 5, end: 6, seen: { a: "a2", b: "b1", c: "c1" } },
  "what was replaced before the list": { begin: 25, end: 50, seen: { a: "a2", b: "b1", c: "c1" } },
  "a value that nobody wrote": { begin: 5, end: 50, seen: { a: "a3", b: "b1", c: "c1" } },
};

for (const [what, page] of Object.entries(right)) {
  test(`right: ${what}`, () => assert.equal(findTornPage([page], operations), undefined));
}

for (const [what, page] of Object.entries(wrong)) {
  test(`wrong: ${what}`, () => assert.match(findTornPage([page], operations) ?? "", /no single instant/));
}

test("a delete whose end nobody knows leaves an absence possible ever after", () => {
  const cut = new Map([["a", written([0, 1, "a1"], [2, never, null])]]);
  assert.equal(findTornPage([{ begin: 8, end: 9, seen: { a: null } }], cut), undefined);
  assert.equal(findTornPage([{ begin: 8, end: 9, seen: { a: "a1" } }], cut), undefined);
});
