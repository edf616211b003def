// The charts of the overview: requests, errors, latency, bytes and stored data.
import { chart } from "../charts/chart.js";
import { requestCharts, timeRange } from "../charts/request-charts.js";
import { niceBytesTop, niceCountTop } from "../charts/scale.js";
import { bytes, number, seconds } from "../elements/format.js";

/** @import { MetricsDocument, MetricsPoint } from "../../wire-types.ts" */

/**
 * @param {MetricsDocument} metrics
 * @param {number} milliseconds length of the range
 */
export function createCharts({ points }, milliseconds) {
  const range = timeRange(points, milliseconds);
  const served = requestCharts(points, milliseconds);
  /** @param {(point: MetricsPoint) => number | undefined} value */
  const series = (value) => points.map(value);
  return [
    served.requests,
    served.errors,
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
    served.bytes,
  ];
}
