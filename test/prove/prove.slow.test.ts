// A fault between a kill and the check: the report names what was lost, and the run has not held.
import assert from "node:assert/strict";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { prove } from "../../src/prove/prove.ts";
import { temporaryDirectory } from "../support/stores.ts";

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
