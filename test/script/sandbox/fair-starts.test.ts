// Requests of several sandboxes that share one process.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { HttpRequest } from "../../../src/http/server/listen.ts";
import { createFairStarts } from "../../../src/script/sandbox/fair-starts.ts";
import { mockTimeouts } from "../../support/mock-timeouts.ts";

const request = {} as HttpRequest;
const response = { status: 200, headers: [], body: null };
const turn = () => new Promise((resolve) => setImmediate(resolve));

test("many requests of one sandbox start over several turns, and those of another at once", async () => {
  const started: string[] = [];
  const handler = (name: string) => () => {
    started.push(name);
    return response;
  };
  const [bucket, namespace] = [handler("bucket"), handler("namespace")].map(
    createFairStarts(2).openSandbox("a"),
  );
  const other = createFairStarts(2).openSandbox("a")(handler("other"));
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

test("a sandbox with many requests pauses only while another script has requests too", async (t) => {
  const timeouts = mockTimeouts(t);
  const clock = { time: 0 };
  const fair = createFairStarts(2, () => clock.time);
  const started = { flooding: 0, other: 0 };
  const [flooding, other] = (["flooding", "other"] as const).map((name) =>
    fair.openSandbox(name)(() => {
      started[name]++;
      return response;
    }),
  );
  other!(request);
  for (let i = 0; i < 6; i++) void flooding!(request);
  for (let i = 0; i < 5; i++) await turn();
  assert.deepEqual(started, { flooding: 2, other: 1 });
  other!(request);
  assert.equal(started.other, 2);
  timeouts.tick(4);
  await turn();
  assert.equal(started.flooding, 4);
  clock.time += 1000;
  timeouts.tick(4);
  for (let i = 0; i < 3; i++) await turn();
  assert.equal(started.flooding, 6);
  for (let i = 0; i < 6; i++) void flooding!(request);
  for (let i = 0; i < 5; i++) await turn();
  assert.equal(started.flooding, 12, "alone, it does not pause");
});

test("a request that fails does not hold back the next", async () => {
  const startFairly = createFairStarts(1).openSandbox("a");
  const failing = startFairly(() => Promise.reject(new Error("on purpose")));
  const results = await Promise.allSettled([failing(request), failing(request)]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ["rejected", "rejected"],
  );
  assert.equal(await startFairly(() => response)(request), response);
});
