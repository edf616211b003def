// The cache of buckets holds a bounded length of settings.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createBucketCache, maxSettingsLength } from "../../../src/cluster/index/bucket-cache.ts";
import type { Bucket } from "../../../src/model/bucket.ts";

const bucket = (name: string): Bucket => ({
  ...{ name, created: 0, storageClass: "Standard", account: "default", settings: {} },
});

test("buckets with long settings leave the cache, the oldest first", () => {
  const cache = createBucketCache(60_000);
  const quarter = maxSettingsLength / 4;
  const cached = () => ["a", "b", "c", "d", "e"].filter((name) => cache.get(name) !== undefined).join("");
  for (const name of ["a", "b", "c", "d"]) cache.keep(bucket(name), quarter);
  assert.equal(cached(), "abcd");
  cache.keep(bucket("a"), quarter);
  cache.keep(bucket("e"), quarter);
  assert.equal(cached(), "acde");
  cache.drop("c");
  cache.keep(bucket("b"), quarter);
  assert.equal(cached(), "abde");
  cache.keep(bucket("c"), maxSettingsLength + 1);
  assert.equal(cached(), "");
});
