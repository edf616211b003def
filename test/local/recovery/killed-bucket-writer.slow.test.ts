// A process is killed while it creates and deletes buckets. Afterwards every bucket is complete or
// absent, and every name can be used.
import assert from "node:assert/strict";
import { test } from "node:test";
import { runUntilKilled } from "../../../src/prove/kill/run-until-killed.ts";
import { content, createBucketLedger, names } from "../../support/kill/bucket-journal.ts";
import type { MakerReport, MakerTask } from "../../support/kill/bucket-writer.ts";
import { seeded } from "../../support/random.ts";
import { temporaryDirectory } from "../../support/stores.ts";

const rounds = 5;

test("after kill -9 during creations and deletions every bucket is complete or absent", async (t) => {
  await seeded(async (random) => {
    const directory = await temporaryDirectory(t);
    const ledger = createBucketLedger();
    let steps = 0;
    for (let round = 0; round < rounds; round++) {
      const task: MakerTask = { directory, names, content };
      const killing = {
        program: new URL("../../support/kill/bucket-writer.js", import.meta.url),
        task,
        random,
        reports: 100,
      };
      for (const report of await runUntilKilled<MakerReport>(killing)) steps += ledger.learn(report);
      await ledger.assertRecovered(directory);
    }
    assert.ok(steps > rounds, "the writers were active");
    t.diagnostic(`${rounds} kills, ${steps} acknowledged steps`);
  });
});
