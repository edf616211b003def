// All proofs of `store prove` for a short time, on a sound store and on one that loses files.
import assert from "node:assert/strict";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
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

test("a store that lost its records after a kill makes the report say which object is missing", async (t) => {
  const directory = await temporaryDirectory(t);
  const beforeCheck = (store: string) => {
    // As if the syncs of the last writes had been ignored.
    for (const id of readdirSync(join(store, "buckets")))
      rmSync(join(store, "buckets", id, "records.db-wal"), { force: true });
  };
  const report = await prove({
    ...{ directory, milliseconds: 60_000, seed: 1, only: ["kill"], say: () => {} },
    killHooks: { beforeCheck },
  });
  const [result] = report.results;
  assert.equal(result?.outcome, "failed");
  assert.match(result.reason ?? "", /missing|load-/);
  assert.equal(report.held, false);
  assert.deepEqual(readdirSync(directory), []);
});
