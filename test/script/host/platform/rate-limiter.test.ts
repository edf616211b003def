// Bindings that Store emulates in a script's process: rate limiters and datasets.
import assert from "node:assert/strict";
import { test } from "node:test";
import { AnalyticsDataset } from "../../../../src/script/host/platform/analytics-dataset.ts";
import { RateLimiter } from "../../../../src/script/host/platform/rate-limiter.ts";

test("a rate limiter allows as many calls per key and period as its limit", async () => {
  let now = 60_000;
  const limiter = new RateLimiter({ limit: 2, periodSeconds: 10 }, () => now);
  const isAllowed = async (key: string) => (await limiter.limit({ key })).success;
  assert.deepEqual([await isAllowed("a"), await isAllowed("a"), await isAllowed("a")], [true, true, false]);
  assert.equal(await isAllowed("b"), true);
  now = 69_999;
  assert.equal(await isAllowed("a"), false);
  now = 70_000;
  assert.equal(await isAllowed("a"), true);
});

test("a rate limiter with more than 100,000 keys drops the oldest key", async () => {
  const limiter = new RateLimiter({ limit: 1, periodSeconds: 60 }, () => 0);
  for (let i = 0; i <= 100_000; i++) await limiter.limit({ key: `k${i}` });
  assert.deepEqual(await limiter.limit({ key: "k1" }), { success: false });
  assert.deepEqual(await limiter.limit({ key: "k0" }), { success: true });
});

test("calling limit of a rate limiter with a key that is not a string rejects with a TypeError", async () => {
  const limiter = new RateLimiter({ limit: 1, periodSeconds: 10 });
  for (const options of [undefined, {}, { key: 1 }]) {
    await assert.rejects(limiter.limit(options as { key: string }), {
      name: "TypeError",
      message: "limit() takes an object with a string as its key.",
    });
  }
});

test("an analytics dataset accepts objects as data points and refuses other values", () => {
  const dataset = new AnalyticsDataset();
  assert.equal(dataset.writeDataPoint({ blobs: ["a"], doubles: [1], indexes: ["i"] }), undefined);
  assert.equal(dataset.writeDataPoint(), undefined);
  assert.throws(() => dataset.writeDataPoint("a"), { name: "TypeError" });
});
