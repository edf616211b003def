// The history of requests by bucket: rates, limits, and what survives a restart.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bucketBinFormat, maxBuckets } from "../../src/metrics/bucket-bins.ts";
import { createBucketHistory } from "../../src/metrics/bucket-history.ts";
import { createExchangeCounter, type Exchange } from "../../src/metrics/exchange.ts";
import { createBinArchive } from "../../src/metrics/history-archive.ts";
import { maxDocumentLength } from "../../src/metrics/history-bins.ts";
import { createMetrics } from "../../src/metrics/metrics.ts";
import { prometheusText } from "../../src/metrics/prometheus.ts";
import { memoryDocuments } from "./memory-documents.ts";

const exchange: Exchange = {
  ...{ frontEnd: "s3", id: "1", method: "GET", operation: "GetObject", status: 200, isWhole: true },
  ...{ bytesIn: 10, bytesOut: 100, milliseconds: 2, remoteAddress: () => "::1" },
};
const minute = 60_000;
const day = 24 * 60 * minute;
const start = 20_000 * day + day / 2;

/** A server on the documents; `serve` counts exchanges, `sample` takes a sample. */
function startServer({ documents }: ReturnType<typeof memoryDocuments>) {
  const metrics = createMetrics();
  const count = createExchangeCounter(metrics);
  const archive = createBinArchive(documents, bucketBinFormat);
  const history = createBucketHistory(archive);
  return {
    ...{ metrics, archive },
    serve(bucket: string, times = 1, more: Partial<Exchange> = {}) {
      for (let i = 0; i < times; i++) count({ ...exchange, bucket, ...more });
    },
    sample: (time: number) => history.add(time, structuredClone(metrics.snapshot())),
    read: (bucket: string, now: number, { span = "hour" as const, created = 0 } = {}) =>
      history.points({ bucket, span, now, created }),
  };
}

test("a bucket's history has the rates of its requests, errors and bytes, and zeros after them", async () => {
  const { sample, serve, read } = startServer(memoryDocuments());
  sample(start);
  serve("photos", 60);
  serve("photos", 6, { status: 404, errorCode: "NoSuchKey" });
  serve("photos", 3, { status: 503 });
  serve("other", 5, { frontEnd: "public" });
  sample(start + minute - 1);
  const { points, isPartial } = await read("photos", start + 3 * minute - 1);
  assert.deepEqual(
    points.map(({ requests, clientErrors, serverErrors, bytesIn, bytesOut }) =>
      [requests, clientErrors, serverErrors, bytesIn, bytesOut].map((one) => one! * 60),
    ),
    [[69, 6, 3, 690, 6900], ...[1, 2].map(() => [0, 0, 0, 0, 0])],
  );
  assert.equal(isPartial, false);
  assert.deepEqual((await read("quiet", start + minute)).points, []);
});

test("a bucket's history survives a restart, and a bucket of the same name starts without it", async () => {
  const stored = memoryDocuments();
  const { sample, serve, archive } = startServer(stored);
  sample(start);
  serve("photos", 120);
  sample(start + minute - 1);
  await archive.flush(start + minute, "all");
  const restarted = startServer(stored);
  for (const span of ["hour", "day", "week", "month"] as const) {
    const { points } = await restarted.read("photos", start + 2 * minute, { span: span as "hour" });
    assert.ok(points[0]!.requests! > 0, span);
  }
  const created = start + 2 * minute;
  assert.deepEqual((await restarted.read("photos", created + minute, { created })).points, []);
});

test("a request that fails does not take space in the table of buckets", async () => {
  const { serve, metrics } = startServer(memoryDocuments());
  for (let i = 0; i < 1000; i++) serve(`invented-${i}`, 1, { status: 404, errorCode: "NoSuchBucket" });
  const table = () => metrics.snapshot().find(({ type }) => type === "table")!.series;
  assert.deepEqual(table(), []);
  serve("real");
  serve("real", 1, { status: 404 });
  assert.deepEqual(table(), [[["real"], [2, 1, 0, 20, 200]]]);
  assert.doesNotMatch(prometheusText(metrics.snapshot()), /store_bucket_exchanges/);
});

test("of many buckets the busiest stay in the table and in the history, within a limit of bytes", async () => {
  const stored = memoryDocuments();
  const { sample, serve, read, archive, metrics } = startServer(stored);
  const name = (i: number) => `${"bucket-".repeat(8)}${i}`;
  const large = { bytesIn: 99_999_999_999, bytesOut: 99_999_999_999 };
  sample(start);
  for (let at = start; at < start + 60 * minute; at += minute) {
    if (at === start) serve("seldom", 50);
    const buckets = at === start ? 400 : 40;
    for (let i = 0; i < buckets; i++) serve(name(i), i < maxBuckets ? 3 : 1, large);
    sample(at + minute - 1);
  }
  const series = metrics.snapshot().find(({ type }) => type === "table")!.series;
  assert.ok(series.length <= 256, String(series.length));
  await archive.flush(start + 60 * minute, "all");
  const sizes = [...stored.stored.values()].map(({ text }) => text.length);
  assert.ok(Math.max(...sizes) < maxDocumentLength, String(sizes));
  const now = start + 60 * minute - 1;
  const busy = await read(name(0), now);
  assert.ok(busy.points.length === 60 && busy.points.every(({ requests }) => requests! > 0));
  const { points, isPartial } = await read("seldom", now);
  assert.ok(points[0]!.requests! > 0 && isPartial);
  assert.deepEqual(Object.keys(points[1]!), ["time"], "a gap, not zero");
});

test("a process that ended, or a clock that was set back, is not counted as requests", async () => {
  const { sample, serve, read } = startServer(memoryDocuments());
  sample(start);
  serve("photos", 10);
  sample(start - 30 * minute);
  sample(start - 20 * minute);
  assert.deepEqual((await read("photos", start)).points, []);
});

test("documents of the bucket history that are not valid count as empty and are replaced", async () => {
  const stored = memoryDocuments();
  const { sample, serve, archive } = startServer(stored);
  sample(start);
  serve("photos", 3);
  sample(start + 1000);
  await archive.flush(start + 1000, "all");
  const valid = [...stored.stored];
  const damaged = [
    ...["", "{", "[]", '{"version":2,"bins":[]}', '{"version":1,"bins":[{"at":1}]}'],
    ...[[["photos"]], [["photos", [-1]]], [[1, [1]]], [["photos", [1, 1, 1, 1, 1, 1]]]].map((buckets) =>
      JSON.stringify({ version: 1, bins: [{ at: start, buckets }] }),
    ),
    JSON.stringify({ version: 1, bins: [{ at: start, buckets: Array(100).fill(["photos", [1]]) }] }),
  ];
  for (const text of damaged) {
    for (const [name, { revision }] of valid) stored.stored.set(name, { text, revision });
    assert.deepEqual(await archive.read("minute", 0, start + day), [], text.slice(0, 80));
  }
  archive.add(start, { buckets: new Map([["photos", [2]]]) });
  await archive.flush(start, "all");
  const [bin] = await archive.read("minute", 0, start + day);
  assert.deepEqual(bin, { at: start, buckets: new Map([["photos", [2]]]) });
});
