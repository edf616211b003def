// Tests that the checker of versions finds violations.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Action, Operation } from "../../../src/prove/consistency/checker.ts";
import { findVersionViolation } from "../../../src/prove/consistency/versions.ts";

function at(begin: number, end: number, action: Action): Operation {
  return { begin, end, action };
}

const first = at(0, 1, { kind: "write", value: "a" });
const second = at(2, 3, { kind: "write", value: "b" });
const marker = at(4, 5, { kind: "write", value: null });
const inDoubt = at(0, Number.POSITIVE_INFINITY, { kind: "write", value: "c" });

test("a list of all acknowledged versions in their order is valid", () => {
  assert.equal(findVersionViolation(["a", "b", null], [first, second, marker]), undefined);
  assert.equal(findVersionViolation(["a", "c", "b"], [first, second, inDoubt]), undefined);
  assert.equal(findVersionViolation(["a", "b"], [first, second, inDoubt]), undefined);
});

test("a missing, repeated, misplaced or foreign version is a violation", () => {
  assert.match(findVersionViolation(["b"], [first, second]) ?? "", /acknowledged and is missing/);
  assert.match(findVersionViolation(["a", "a", "b"], [first, second]) ?? "", /exists twice/);
  assert.match(findVersionViolation(["b", "a"], [first, second]) ?? "", /began later/);
  assert.match(findVersionViolation(["a", "x"], [first]) ?? "", /never written/);
  assert.match(findVersionViolation(["a", null], [first]) ?? "", /1 delete markers of 0 deletes/);
});

test("a conditional put that does not follow the state of its condition is a violation", () => {
  const create = at(4, 5, { kind: "create", value: "c", outcome: "stored" });
  const replace = at(4, 5, { kind: "replace", seen: "a", value: "d", outcome: "stored" });
  assert.match(findVersionViolation(["a", "c"], [first, create]) ?? "", /came after a/);
  assert.equal(findVersionViolation(["a", "d"], [first, replace]), undefined);
  assert.match(findVersionViolation(["a", "b", "d"], [first, second, replace]) ?? "", /came after b/);
});
