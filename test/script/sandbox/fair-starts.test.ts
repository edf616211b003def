// Requests of several sandboxes that share one process.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { HttpRequest } from "../../../src/http/server/listen.ts";
import { createFairStarts } from "../../../src/script/sandbox/fair-starts.ts";

const request = {} as HttpRequest;
const response = { status: 200, headers: [], body: null };
const turn = () => new Promise((resolve) => setImmediate(resolve));

test("many requests of one sandbox start over several turns, and those of another at once", async () => {
  const started: string[] = [];
  const handler = (name: string) => () => {
    started.push(name);
    return response;
  };
  const [bucket, namespace] = [handler("bucket"), handler("namespace")].map(createFairStarts(2));
  const other = createFairStarts(2)(handler("other"));
  const all = [bucket, bucket, namespace, bucket, bucket].map((handle) => handle!(request));
  await other(request);
  assert.deepEqual(started, ["bucket", "bucket", "other"]);
  await turn();
  assert.deepEqual(started.slice(3), ["namespace", "bucket"]);
  // A new request does not overtake those that wait.
  const last = namespace!(request);
  await Promise.all([...all, last]);
  assert.deepEqual(started.slice(5), ["bucket", "namespace"]);
  await turn();
  bucket!(request);
  assert.equal(started.length, 8, "an idle sandbox starts at once");
});

test("a request that fails does not hold back the next", async () => {
  const startFairly = createFairStarts(1);
  const failing = startFairly(() => Promise.reject(new Error("on purpose")));
  const results = await Promise.allSettled([failing(request), failing(request)]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ["rejected", "rejected"],
  );
  assert.equal(await startFairly(() => response)(request), response);
});
