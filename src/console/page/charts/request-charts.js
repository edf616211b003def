// The charts of requests, errors and bytes, of the server or of one bucket.
import { bytes, rate } from "../elements/format.js";
import { chart } from "./chart.js";
import { niceBytesTop } from "./scale.js";

/**
 * @typedef {object} RequestPoint Rates per second; undefined leaves a gap.
 * @property {number} time
 * @property {number} [requests]
 * @property {number} [clientErrors]
 * @property {number} [serverErrors]
 * @property {number} [bytesIn]
 * @property {number} [bytesOut]
 */

/**
 * @param {readonly RequestPoint[]} points
 * @param {number} milliseconds length of the range
 */
export function timeRange(points, milliseconds) {
  const times = points.map((point) => point.time);
  const until = times.at(-1) ?? Date.now();
  return { times, from: until - milliseconds, until };
}

/**
 * @param {readonly RequestPoint[]} points
 * @param {number} milliseconds length of the range
 */
export function requestCharts(points, milliseconds) {
  const range = timeRange(points, milliseconds);
  return {
    requests: chart({
      ...{ ...range, title: "Requests per second", format: rate },
      lines: [{ name: "Requests", values: points.map((point) => point.requests) }],
    }),
    errors: chart({
      ...{ ...range, title: "Errors per second", format: rate },
      lines: [
        { name: "4xx", values: points.map((point) => point.clientErrors) },
        { name: "5xx", values: points.map((point) => point.serverErrors) },
      ],
    }),
    bytes: chart({
      ...{ ...range, title: "Bytes per second", format: bytes, top: niceBytesTop },
      lines: [
        { name: "In", values: points.map((point) => point.bytesIn) },
        { name: "Out", values: points.map((point) => point.bytesOut) },
      ],
    }),
  };
}
