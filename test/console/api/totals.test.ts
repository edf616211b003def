// Totals of a bucket: in a cluster a count reads the whole bucket, so requests share one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bucketRoutes } from "../../../src/console/api/buckets.ts";
import { type Call, parseQuery } from "../../../src/console/route.ts";
import type { Engine } from "../../../src/engine/engine.ts";

test("requests for the totals of a bucket that arrive during a count share it", async () => {
  const counts: { readonly bucket: string; end(): void }[] = [];
  const totals = { objects: 1, bytes: 2, noncurrentVersions: 0, noncurrentBytes: 0 };
  const engine = {
    totals: (bucket: string) => new Promise((resolve) => counts.push({ bucket, end: () => resolve(totals) })),
  } as unknown as Engine;
  const routes = bucketRoutes(engine, { endGrants: async () => {} }, { listPublic: async () => new Set() });
  const route = routes.find(({ method, path }) => method === "GET" && path === "/api/buckets/totals")!;
  const ask = (bucket: string) => route.run({ query: parseQuery(`?bucket=${bucket}`) } as Call);
  const asked = [...Array.from({ length: 50 }, () => ask("photos")), ask("music")];
  assert.deepEqual(
    counts.map(({ bucket }) => bucket),
    ["photos", "music"],
  );
  for (const { end } of counts) end();
  await Promise.all(asked);
  const later = ask("photos");
  assert.equal(counts.length, 3, "a later request counts again");
  counts[2]!.end();
  await later;
});
