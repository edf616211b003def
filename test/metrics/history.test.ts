// The history of metrics for charts: rates between two samples, and the stored bytes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createExchangeCounter, type Exchange } from "../../src/metrics/exchange.ts";
import { createHistory } from "../../src/metrics/history.ts";
import { createHistoryArchive } from "../../src/metrics/history-archive.ts";
import { createMetrics } from "../../src/metrics/metrics.ts";
import { memoryDocuments } from "./memory-documents.ts";

const exchange: Exchange = {
  ...{ frontEnd: "s3", id: "1", method: "GET", operation: "GetObject", status: 200, isWhole: true },
  ...{ bytesIn: 10, bytesOut: 100, milliseconds: 2, remoteAddress: () => "::1" },
};

function counted() {
  const metrics = createMetrics();
  const count = createExchangeCounter(metrics);
  const held = metrics.gauge({ name: "store_bucket_bytes", help: "B.", labels: ["bucket"] });
  return { metrics, count, held, looked: () => structuredClone(metrics.snapshot()) };
}

test("a point of the metrics history has request rates and quantiles of the selected front ends, and stored bytes", async () => {
  const { count, held, looked } = counted();
  const history = createHistory();
  history.add(0, looked());
  for (let i = 0; i < 20; i++) count(exchange);
  count({ ...exchange, status: 404 });
  count({ ...exchange, frontEnd: "console", status: 500 });
  held("a").add(5);
  held("b").add(7);
  history.add(10_000, looked());
  count({ ...exchange, frontEnd: "script", status: 503 });
  const now = { time: 20_000, snapshot: looked() };
  const [first, second, ...more] = await history.points("hour", ["s3", "script"], now);
  assert.deepEqual(more, []);
  assert.deepEqual(
    [first!.time, first!.requests, first!.clientErrors, first!.serverErrors, first!.bytesIn, first!.bytesOut],
    [10_000, 2.1, 0.1, 0, 21, 210],
  );
  assert.ok(first!.median! > 0.001 && first!.median! <= first!.slowest! && first!.slowest! <= 0.0025);
  assert.deepEqual([first!.stored, second!.stored], [12, 12]);
  assert.deepEqual([second!.requests, second!.serverErrors], [0.1, 0.1]);
  const [quiet] = await history.points("hour", ["public"], now);
  assert.deepEqual([quiet!.requests, quiet!.median], [0, undefined]);
});

const hour = 3_600_000;
const day = 24 * hour;
/** Noon of a day, so that no interval begins in another document. */
const start = 20_000 * day + 12 * hour;

test("the metrics history survives a restart, in every range", async () => {
  const { documents } = memoryDocuments();
  const { count, held, looked } = counted();
  const archive = createHistoryArchive(documents);
  const history = createHistory(archive);
  held("a").add(5);
  history.add(start, looked());
  for (let i = 1; i <= 60; i++) {
    for (let n = 0; n < 60; n++) count(exchange);
    history.add(start + i * 60_000, looked());
  }
  await archive.flush(start + hour, "all");
  const restarted = createHistory(createHistoryArchive(documents));
  const other = counted();
  const now = { time: start + hour + 1000, snapshot: other.looked() };
  restarted.add(start + hour + 500, other.looked());
  for (const span of ["hour", "day", "week", "month"] as const) {
    const points = await restarted.points(span, ["s3"], now);
    const widths = { hour: 60, day: 300, week: 1800, month: 7200 };
    const served = points.reduce((sum, { requests }) => sum + requests, 0) * widths[span];
    // The first minute of the range and the interval that is not over may be partly outside.
    assert.ok(served >= 3400 && served <= 7300, `${span}: ${served}`);
    assert.ok(
      points.some(({ stored }) => stored === 5),
      span,
    );
    assert.ok(
      points.every(({ time }, i) => i === 0 || time >= points[i - 1]!.time),
      span,
    );
    assert.ok(points.length <= 400, `${span}: ${points.length}`);
  }
});

test("a server restarted within a minute shows the earlier server's part of that minute once", async () => {
  const { documents } = memoryDocuments();
  const before = counted();
  const archive = createHistoryArchive(documents);
  const history = createHistory(archive);
  history.add(start, before.looked());
  for (let n = 0; n < 20; n++) before.count(exchange);
  history.add(start + 10_000, before.looked());
  await archive.flush(start + 10_000, "all");

  const restarted = createHistory(createHistoryArchive(documents));
  const after = counted();
  const requests = async (time: number) => {
    const points = await restarted.points("hour", ["s3"], { time, snapshot: after.looked() });
    return points.map((point) => point.requests * 20);
  };
  assert.deepEqual(await requests(start + 15_000), [20]);
  restarted.add(start + 20_000, after.looked());
  for (let n = 0; n < 7; n++) after.count(exchange);
  restarted.add(start + 40_000, after.looked());
  assert.deepEqual(await requests(start + 41_000), [20, 7, 0]);
});

test("two servers add to one metrics history, also when they write at the same time", async () => {
  const { documents } = memoryDocuments();
  const servers = [1, 2].map(() => ({ ...counted(), archive: createHistoryArchive(documents) }));
  for (const { archive, count, looked } of servers) {
    const history = createHistory(archive);
    history.add(start, looked());
    for (let n = 0; n < 30; n++) count(exchange);
    history.add(start + 10_000, looked());
  }
  await Promise.all(servers.map(({ archive }) => archive.flush(start + 10_000, "all")));
  const [bin, ...more] = await createHistoryArchive(documents).read("minute", start, start + hour);
  assert.deepEqual(more, []);
  assert.equal(bin!.counts.s3![0], 60);
});

test("the metrics history keeps a day of minutes and a month of half hours, and no more", async () => {
  const { documents, stored } = memoryDocuments();
  const archive = createHistoryArchive(documents);
  for (let time = start; time <= start + 40 * day; time += 20 * 60_000) {
    archive.add(time, { counts: { s3: [1] }, stored: 7 });
    await archive.flush(time, "all");
  }
  const sizes = [...stored.values()].map(({ text }) => text.length);
  assert.ok(stored.size <= 26 + 33, String(stored.size));
  assert.ok(Math.max(...sizes) < 64 * 1024);
  const minutes = await archive.read("minute", 0, start + 40 * day);
  const halfHours = await archive.read("halfHour", 0, start + 40 * day);
  assert.ok(minutes[0]!.at >= start + 40 * day - 26 * hour);
  assert.ok(halfHours[0]!.at >= start + 40 * day - 33 * day && halfHours.length > 30 * 48);
});

test("documents of the metrics history that are not valid count as empty and are replaced", async () => {
  const { documents, stored } = memoryDocuments();
  const archive = createHistoryArchive(documents);
  archive.add(start, { counts: { s3: [3, 1] } });
  await archive.flush(start, "all");
  const valid = [...stored];
  const damaged = [
    "",
    "{",
    "[]",
    '{"version":2,"bins":[]}',
    '{"version":1,"bins":[{"at":-1}]}',
    `"${"x".repeat(300_000)}"`,
  ];
  for (const text of [...damaged, JSON.stringify({ version: 1, bins: [{ at: start, s3: [1.5] }] })]) {
    for (const [name, { revision }] of valid) stored.set(name, { text, revision });
    assert.deepEqual(await archive.read("minute", 0, start + day), [], text.slice(0, 50));
    archive.add(start, { counts: { s3: [2] } });
    await archive.flush(start, "all");
    const [bin] = await archive.read("minute", 0, start + day);
    assert.deepEqual(bin!.counts, { s3: [2] });
  }
});

test("counts that could not be stored are stored later", async () => {
  const { documents } = memoryDocuments();
  let isDown = true;
  const archive = createHistoryArchive({
    ...documents,
    put: async (...given) => {
      if (isDown) throw new Error("down");
      return documents.put(...given);
    },
  });
  archive.add(start, { counts: { s3: [3] } });
  await assert.rejects(archive.flush(start, "all"), /down/);
  isDown = false;
  await archive.flush(start, "all");
  const [bin] = await createHistoryArchive(documents).read("minute", 0, start + day);
  assert.deepEqual(bin!.counts, { s3: [3] });
});

test("the metrics history is cleared if the clock was set back", async () => {
  const { looked } = counted();
  const history = createHistory();
  for (const time of [100_000, 200_000, 50_000, 60_000]) history.add(time, looked());
  const points = await history.points("hour", ["s3"], { time: 70_000, snapshot: looked() });
  assert.deepEqual(
    points.map(({ time }) => time),
    [60_000, 70_000],
  );
});
