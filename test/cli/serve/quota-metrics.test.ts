// Metrics of quotas: limits, usage and refusals.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createStoreMetrics } from "../../../src/cli/serve/store-metrics.ts";
import { createMetrics } from "../../../src/metrics/metrics.ts";
import { openEngine } from "../../../src/open.ts";

test("metrics show the quotas of buckets and accounts, what is used, and refused writes", async (t) => {
  const metrics = createMetrics();
  const { engine } = await openEngine("memory:", { metrics });
  t.after(() => engine.close());
  await engine.createBucket("photos");
  await engine.changeSettings("photos", { quota: { bytes: 5 } });
  await engine.quotas.setAccountQuota("default", { objects: 3 });
  await engine.put("photos", "a", Buffer.alloc(4));
  await assert.rejects(engine.put("photos", "b", Buffer.alloc(4)), { reason: "QuotaExceeded" });
  const families = [...(await createStoreMetrics(engine).snapshot()), ...metrics.snapshot()];
  const series = (name: string) => families.find((family) => family.name === name)?.series;
  const [bucket, account] = [
    ["bucket", "photos"],
    ["account", "default"],
  ];
  assert.deepEqual(series("store_quota_bytes"), [[bucket, [5]]]);
  assert.deepEqual(series("store_quota_objects"), [[account, [3]]]);
  assert.deepEqual(series("store_quota_used_bytes"), [
    [account, [4]],
    [bucket, [4]],
  ]);
  assert.deepEqual(series("store_quota_refusals_total"), [[["photos"], [1]]]);
});
