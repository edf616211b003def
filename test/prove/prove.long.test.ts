// All proofs of `store prove` for a short time.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { proofNames, prove } from "../../src/prove/prove.ts";
import { temporaryDirectory } from "../support/stores.ts";

test("every proof holds on this machine and reports what it tried", async (t) => {
  const directory = await temporaryDirectory(t);
  const report = await prove({ directory, milliseconds: 4000, seed: 3, say: () => {} });
  assert.deepEqual(
    report.results.map(({ name, outcome, reason }) => ({ name, outcome, reason })),
    proofNames.map((name) => ({ name, outcome: "held", reason: undefined })),
  );
  assert.equal(report.held, true);
  for (const { counts } of report.results) assert.ok(Object.values(counts).some((count) => count > 0));
  assert.deepEqual(readdirSync(directory), []);
});
