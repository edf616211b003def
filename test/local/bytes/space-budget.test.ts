// How many removed bytes a bucket's segments may keep, and when new bodies wait.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createSpaceBudget } from "../../../src/local/bytes/space-budget.ts";
import { MiB } from "../../support/bodies.ts";

const fileBytes = 8 * MiB;
const bucket = "0123456789abcdef";

function budgetOf(live: number) {
  const state = { total: live, live };
  return { budget: createSpaceBudget({ measure: () => state }, fileBytes), state };
}

test("a small bucket may keep four files of removed bytes before live bodies are moved", () => {
  const { budget, state } = budgetOf(10 * MiB);
  state.total = 42 * MiB;
  assert.equal(budget.isAmple(bucket), true);
  state.total += 1;
  assert.equal(budget.isAmple(bucket), false);
});

test("a large bucket may take 1.65 times its live bytes, a small one six files more than them", () => {
  const large = budgetOf(1000 * MiB);
  assert.equal(large.budget.maxBytes(bucket), 1650 * MiB);
  const small = budgetOf(10 * MiB);
  assert.equal(small.budget.maxBytes(bucket), 58 * MiB);
});

test("bodies wait while a bucket exceeds its budget, and as many continue as were reclaimed", async () => {
  const { budget, state } = budgetOf(1000 * MiB);
  budget.throttleIfExceeded(bucket);
  assert.equal(budget.wait(bucket, 1), undefined);
  state.total = 1800 * MiB;
  budget.throttleIfExceeded(bucket);
  const resumed: string[] = [];
  const waits = ["first", "second", "third"].map((name) =>
    budget.wait(bucket, 4 * MiB)!.then(() => void resumed.push(name)),
  );
  budget.admit(bucket, 5 * MiB);
  await Promise.all(waits.slice(0, 2));
  assert.deepEqual(resumed, ["first", "second"]);
  state.total = 1700 * MiB;
  budget.admit(bucket, 1);
  await waits[2];
  assert.deepEqual(resumed, ["first", "second", "third"]);
  assert.equal(budget.wait(bucket, 1), undefined);
});
