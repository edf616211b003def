// Large numbers at the top of the overview.
import { h } from "../elements/dom.js";
import { bytes, number, percent, rate } from "../elements/format.js";

/** @import { MetricsDocument } from "../../wire-types.ts" */

/**
 * @param {MetricsDocument} metrics
 * @param {string} range name of the time range
 */
export function createStats({ points }, range) {
  const last = points.at(-1);
  /** @param {(point: MetricsDocument["points"][number]) => number} value */
  const mean = (value) =>
    points.length === 0 ? 0 : points.reduce((sum, point) => sum + value(point), 0) / points.length;
  const requests = mean((point) => point.requests);
  const failed = mean((point) => point.clientErrors + point.serverErrors);
  const failedByServer = mean((point) => point.serverErrors);
  return h(
    "div",
    { class: "stats" },
    stat("Stored", last?.stored === undefined ? "–" : bytes(last.stored), "all buckets, current objects"),
    stat("Objects", last?.objects === undefined ? "–" : number(last.objects), "current objects"),
    stat("Requests", `${rate(requests)} /s`, `mean of ${range}`),
    stat(
      "Errors",
      requests === 0 ? "0 %" : percent(failed / requests),
      failedByServer === 0 ? "none by the server" : `${rate(failedByServer)} /s by the server`,
    ),
  );
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
