// The history of metrics for charts: rates between two samples, and the stored bytes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createExchangeCounter, type Exchange } from "../../src/metrics/exchange.ts";
import { createHistory } from "../../src/metrics/history.ts";
import { createMetrics } from "../../src/metrics/metrics.ts";

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

test("a point of the metrics history has request rates and quantiles of the selected front ends, and stored bytes", () => {
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
  const [first, second, ...more] = history.points("hour", ["s3", "script"], now);
  assert.deepEqual(more, []);
  assert.deepEqual(
    [first!.time, first!.requests, first!.clientErrors, first!.serverErrors, first!.bytesIn, first!.bytesOut],
    [10_000, 2.1, 0.1, 0, 21, 210],
  );
  assert.ok(first!.median! > 0.001 && first!.median! <= first!.slowest! && first!.slowest! <= 0.0025);
  assert.deepEqual([first!.stored, second!.stored], [12, 12]);
  assert.deepEqual([second!.requests, second!.serverErrors], [0.1, 0.1]);
  const [quiet] = history.points("hour", ["public"], now);
  assert.deepEqual([quiet!.requests, quiet!.median], [0, undefined]);
});

test("the metrics history keeps fine samples for an hour and coarse samples for a week", () => {
  const { looked } = counted();
  const history = createHistory();
  const snapshot = looked();
  const day = 86_400_000;
  for (let time = 0; time <= day; time += 10_000) history.add(time, snapshot);
  const now = { time: day + 5000, snapshot };
  const hour = history.points("hour", ["s3"], now);
  assert.ok(hour.length >= 350 && hour.length <= 361, String(hour.length));
  const all = history.points("day", ["s3"], now);
  assert.ok(all.length >= 280 && all.length <= 290, String(all.length));
  assert.ok(hour.every(({ time }, i) => i === 0 || time > hour[i - 1]!.time));
  for (let time = day; time <= 9 * day; time += 300_000) history.add(time, snapshot);
  assert.ok(history.points("week", ["s3"], { time: 9 * day + 1, snapshot }).length <= 721);
});

test("the metrics history is cleared if the clock was set back", () => {
  const { looked } = counted();
  const history = createHistory();
  for (const time of [100_000, 200_000, 50_000, 60_000]) history.add(time, looked());
  const points = history.points("hour", ["s3"], { time: 70_000, snapshot: looked() });
  assert.deepEqual(
    points.map(({ time }) => time),
    [60_000, 70_000],
  );
});
