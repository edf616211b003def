// Quotas while several processes write to one directory.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openEngine } from "../../src/open.ts";
import { temporaryDirectory } from "../support/stores.ts";
import { withAgents } from "./agents/agents.ts";

const size = 1000;

async function prepare(t: TestContext, buckets: readonly string[]) {
  const directory = await temporaryDirectory(t);
  const { engine } = await openEngine(directory);
  for (const bucket of buckets) await engine.createBucket(bucket);
  return { directory, engine };
}

test("200 concurrent puts from three processes fill a bucket exactly to its quota", async (t) => {
  const { directory, engine } = await prepare(t, ["shared"]);
  await engine.changeSettings("shared", { quota: { bytes: 60 * size + 1, objects: 100 } });
  await withAgents(directory, 3, async (...agents) => {
    const command = { do: "put many", buckets: ["shared"], count: 67, concurrency: 67, size } as const;
    const refused = await Promise.all(
      agents.map((agent, i) => agent.ask<number>({ ...command, prefix: `agent ${i}` })),
    );
    assert.equal(
      refused.reduce((a, b) => a + b),
      201 - 60,
    );
  });
  assert.deepEqual(await engine.quotas.bucketUsage("shared"), { bytes: 60 * size, objects: 60 });
  await engine.close();
});

test("the quota of an account is exceeded by no more than the requests in flight of other processes", async (t) => {
  const buckets = ["one", "two", "three"];
  const { directory, engine } = await prepare(t, buckets);
  await engine.quotas.setAccountQuota("default", { bytes: 60 * size });
  const concurrency = 4;
  await withAgents(directory, 3, async (...agents) => {
    const command = { do: "put many", buckets, count: 67, concurrency, size } as const;
    await Promise.all(agents.map((agent, i) => agent.ask({ ...command, prefix: `agent ${i}` })));
  });
  const { bytes, objects } = await engine.quotas.accountUsage("default");
  const inFlight = 2 * concurrency;
  assert.ok(objects >= 55 && objects <= 60 + inFlight, `${objects} objects were stored`);
  assert.equal(bytes, objects * size);
  await engine.close();
});
