// Compares the outcomes of a suite inside workerd with the listed differences of the runtime.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Outcome } from "./suite/node-test.ts";

export interface Difference {
  /** What differs, as in the table of docs/isolation.md. */
  readonly what: string;
  readonly reason: string;
  /** Paths of tests that fail for this reason. A path that ends with " > *" is a whole suite. */
  readonly tests: readonly string[];
}

/**
 * Reports each outcome as a subtest. Exactly the listed tests must fail: a listed test that passes
 * or does not exist fails too, so that the list stays true.
 */
export async function reportOutcomes(
  t: TestContext,
  outcomes: readonly Outcome[],
  differences: readonly Difference[],
): Promise<void> {
  assert.ok(outcomes.length > 0, "the suite ran");
  for (const outcome of outcomes) {
    const listed = differences.find(({ tests }) => tests.some((test) => matches(test, outcome.path)));
    await t.test(listed === undefined ? outcome.path : `${outcome.path} (differs)`, () => {
      if (listed === undefined) assert.equal(outcome.error, undefined);
      else assert.notEqual(outcome.error, undefined, `passes, but is listed under "${listed.what}"`);
    });
  }
  const unknown = differences
    .flatMap(({ tests }) => tests)
    .filter((test) => !outcomes.some(({ path }) => matches(test, path)));
  assert.deepEqual(unknown, [], "listed tests that do not exist");
  const different = outcomes.filter(({ error }) => error !== undefined).length;
  t.diagnostic(`${outcomes.length} tests, ${different} of them differ as listed`);
}

function matches(test: string, path: string): boolean {
  return test.endsWith(" > *") ? path.startsWith(test.slice(0, -1)) : path === test;
}
