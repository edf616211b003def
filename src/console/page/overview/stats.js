// Large numbers at the top of the overview.
import { h } from "../elements/dom.js";
import { bytes, number, percent } from "../elements/format.js";

/** @import { MetricsDocument } from "../../wire-types.ts" */

/**
 * @param {MetricsDocument} metrics
 * @param {string} range name of the time range
 */
export function createStats({ points }, range) {
  const last = points.at(-1);
  /** @param {(point: MetricsDocument["points"][number]) => number} rateOf */
  const total = (rateOf) =>
    Math.round(points.reduce((sum, point, i) => sum + rateOf(point) * secondsOf(points, i), 0));
  const requests = total((point) => point.requests);
  const failed = total((point) => point.clientErrors + point.serverErrors);
  const failedByServer = total((point) => point.serverErrors);
  return h(
    "div",
    { class: "stats" },
    stat("Stored", last?.stored === undefined ? "–" : bytes(last.stored), "all buckets, current objects"),
    stat("Objects", last?.objects === undefined ? "–" : number(last.objects), "current objects"),
    stat("Requests", number(requests), `in ${range}`),
    stat(
      "Errors",
      requests === 0 ? "0 %" : percent(failed / requests),
      failedByServer === 0 ? "none by the server" : `${number(failedByServer)} by the server`,
    ),
  );
}

/**
 * Length of the interval that ends at a point. The first has the length of the second.
 *
 * @param {MetricsDocument["points"]} points
 * @param {number} i
 */
function secondsOf(points, i) {
  const [before, after] = i === 0 ? [points[0], points[1]] : [points[i - 1], points[i]];
  return before === undefined || after === undefined ? 10 : (after.time - before.time) / 1000;
}

/**
 * @param {string} name
 * @param {string} value
 * @param {string} more
 */
function stat(name, value, more) {
  return h(
    "div",
    { class: "card stat" },
    h("span", { class: "name" }, name),
    h("span", { class: "value" }, value),
    h("span", { class: "more" }, more),
  );
}
