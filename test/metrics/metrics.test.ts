// Metrics: counting, sums over several processes, and the text format of Prometheus.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createSnapshotAggregator } from "../../src/metrics/aggregate.ts";
import { createExchangeCounter, type Exchange } from "../../src/metrics/exchange.ts";
import { createMetrics } from "../../src/metrics/metrics.ts";
import { prometheusText } from "../../src/metrics/prometheus.ts";
import { quantile } from "../../src/metrics/quantile.ts";
import { mergeSnapshots, sumSeries } from "../../src/metrics/snapshot.ts";

test("the Prometheus text contains help, type and all series, and labels and help are escaped", () => {
  const metrics = createMetrics();
  const counted = metrics.counter({ name: "a_total", help: "Back\\slash\nline.", labels: ["x", "y"] });
  counted('q"uote', "b\\s\nn").add(2);
  counted('q"uote', "b\\s\nn").add(0.5);
  counted("", "ö").add(1);
  metrics.gauge({ name: "g", help: "Now." })().add(-3);
  assert.equal(
    prometheusText(metrics.snapshot()),
    [
      "# HELP a_total Back\\\\slash\\nline.",
      "# TYPE a_total counter",
      'a_total{x="q\\"uote",y="b\\\\s\\nn"} 2.5',
      'a_total{x="",y="ö"} 1',
      "# HELP g Now.",
      "# TYPE g gauge",
      "g -3",
      "",
    ].join("\n"),
  );
});

test("a histogram in the Prometheus text has cumulative buckets, sum and count", () => {
  const metrics = createMetrics();
  const seconds = metrics.histogram({ name: "h_seconds", help: "Took.", labels: ["op"] }, [0.5, 1]);
  for (const value of [0.25, 0.5, 0.75, 4]) seconds("get").observe(value);
  assert.equal(
    prometheusText(metrics.snapshot()),
    [
      "# HELP h_seconds Took.",
      "# TYPE h_seconds histogram",
      'h_seconds_bucket{op="get",le="0.5"} 2',
      'h_seconds_bucket{op="get",le="1"} 3',
      'h_seconds_bucket{op="get",le="+Inf"} 4',
      'h_seconds_sum{op="get"} 5.5',
      'h_seconds_count{op="get"} 4',
      "",
    ].join("\n"),
  );
});

test("snapshots of metrics are added series by series, also after they were sent as JSON", () => {
  const sides = ["one", "other"].map((own) => {
    const metrics = createMetrics();
    const seconds = metrics.histogram({ name: "h", help: "H.", labels: ["op"] }, [1, 2]);
    for (const value of [0.5, 1.5, 9]) seconds("both").observe(value);
    seconds(own).observe(1);
    metrics.addReading({ name: "r", help: "R." }, "gauge", () => [[[], 7]]);
    return JSON.parse(JSON.stringify(metrics.snapshot())) as ReturnType<typeof metrics.snapshot>;
  });
  const sum = mergeSnapshots(sides);
  assert.deepEqual(sum[0]?.series, [
    [["both"], [2, 2, 2, 22]],
    [["one"], [1, 0, 0, 1]],
    [["other"], [1, 0, 0, 1]],
  ]);
  assert.deepEqual(sumSeries(sum, "r"), [14]);
  assert.deepEqual(
    sumSeries(sum, "h", ([op]) => op !== "both"),
    [2, 0, 0, 2],
  );
});

test("counters include ended processes but gauges do not, and a hanging process delays no snapshot", async () => {
  const aggregator = createSnapshotAggregator(20);
  const createSnapshot = (count: number, open: number) => {
    const metrics = createMetrics();
    metrics.counter({ name: "c_total", help: "C." })().add(count);
    metrics.gauge({ name: "g", help: "G." })().add(open);
    return metrics.snapshot();
  };
  const responsive = aggregator.join(() => responsive.receive(createSnapshot(1, 1)));
  let responds = true;
  const hanging = aggregator.join(() => {
    if (responds) hanging.receive(createSnapshot(10, 10));
  });
  const sums = async () => {
    const snapshot = await aggregator.snapshot();
    return [sumSeries(snapshot, "c_total")[0], sumSeries(snapshot, "g")[0]];
  };
  assert.deepEqual(await sums(), [11, 11]);
  responds = false;
  assert.deepEqual(await sums(), [11, 11]);
  hanging.remove();
  hanging.remove();
  assert.deepEqual(await sums(), [11, 1]);
  const next = aggregator.join(() => next.receive(createSnapshot(5, 5)));
  assert.deepEqual(await sums(), [16, 6]);
});

test("a quantile is interpolated between the bounds of its histogram bucket", () => {
  const bounds = [1, 2, 4];
  assert.equal(quantile([0, 0, 0, 0, 0], bounds, 0.5), undefined);
  assert.equal(quantile([2, 2, 0, 0, 0], bounds, 0.5), 1);
  assert.equal(quantile([0, 4, 0, 0, 0], bounds, 0.5), 1.5);
  assert.equal(quantile([1, 0, 3, 0, 0], bounds, 0.99)?.toFixed(6), "3.973333");
  assert.equal(quantile([0, 0, 0, 5, 0], bounds, 0.5), 4);
});

test("exchanges are counted by front end, operation and status class, and errors by code", () => {
  const metrics = createMetrics();
  const count = createExchangeCounter(metrics);
  const exchange: Exchange = {
    ...{ frontEnd: "s3", id: "1", method: "GET", operation: "GetObject", status: 200, isWhole: true },
    ...{ bytesIn: 0, bytesOut: 100, milliseconds: 3, remoteAddress: () => "::1" },
  };
  count(exchange);
  count({ ...exchange, status: 206, isWhole: false, bytesOut: 50 });
  count({ ...exchange, status: 404, errorCode: "NoSuchKey", bytesOut: 5 });
  count({ ...exchange, operation: "PutObject", bytesIn: 7 });
  const snapshot = metrics.snapshot();
  const series = (name: string) => snapshot.find((family) => family.name === name)?.series;
  assert.deepEqual(series("store_requests_total"), [
    [["s3", "GetObject", "2xx"], [2]],
    [["s3", "GetObject", "4xx"], [1]],
    [["s3", "PutObject", "2xx"], [1]],
  ]);
  assert.deepEqual(series("store_errors_total"), [
    [["s3", "Cut"], [1]],
    [["s3", "NoSuchKey"], [1]],
  ]);
  assert.deepEqual(sumSeries(snapshot, "store_sent_bytes_total"), [255]);
  assert.deepEqual(sumSeries(snapshot, "store_received_bytes_total"), [7]);
  assert.equal(sumSeries(snapshot, "store_request_duration_seconds").at(-1)?.toFixed(6), "0.012000");
});
