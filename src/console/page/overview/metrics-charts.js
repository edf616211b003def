// The charts of the overview: requests, errors, latency, bytes and stored data.
import { chart } from "../charts/chart.js";
import { niceBytesTop, niceCountTop } from "../charts/scale.js";
import { bytes, number, rate, seconds } from "../elements/format.js";

/** @import { MetricsDocument, MetricsPoint } from "../../wire-types.ts" */

/**
 * @param {MetricsDocument} metrics
 * @param {number} milliseconds length of the range
 */
export function createCharts({ points }, milliseconds) {
  const times = points.map((point) => point.time);
  const until = times.at(-1) ?? Date.now();
  const range = { times, from: until - milliseconds, until };
  /** @param {(point: MetricsPoint) => number | undefined} value */
  const series = (value) => points.map(value);
  return [
    chart({
      ...{ ...range, title: "Requests per second", format: rate },
      lines: [{ name: "Requests", values: series((point) => point.requests) }],
    }),
    chart({
      ...{ ...range, title: "Errors per second", format: rate },
      lines: [
        { name: "4xx", values: series((point) => point.clientErrors) },
        { name: "5xx", values: series((point) => point.serverErrors) },
      ],
    }),
    chart({
      ...{ ...range, title: "Stored bytes", format: bytes, top: niceBytesTop },
      lines: [{ name: "Bytes", values: series((point) => point.stored) }],
    }),
    chart({
      ...{
        ...range,
        title: "Stored objects",
        format: (value) => number(Math.round(value)),
        top: niceCountTop,
      },
      lines: [{ name: "Objects", values: series((point) => point.objects) }],
    }),
    chart({
      ...{ ...range, title: "Latency", format: seconds },
      lines: [
        { name: "p50", values: series((point) => point.median) },
        { name: "p99", values: series((point) => point.slowest) },
      ],
    }),
    chart({
      ...{ ...range, title: "Bytes per second", format: bytes, top: niceBytesTop },
      lines: [
        { name: "In", values: series((point) => point.bytesIn) },
        { name: "Out", values: series((point) => point.bytesOut) },
      ],
    }),
  ];
}
