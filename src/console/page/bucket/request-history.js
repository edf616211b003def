// Requests, errors and bytes of a bucket over time.
import { isUsed, ranges, refreshMilliseconds, spanOf } from "../charts/ranges.js";
import { requestCharts } from "../charts/request-charts.js";
import { ApiError, ask } from "../client/api.js";
import { pageHref } from "../client/router.js";
import { h } from "../elements/dom.js";
import { isAbort, noteFailure } from "../elements/notices.js";
import { segments } from "../elements/tabs.js";

/** @import { BucketMetricsDocument } from "../../wire-types.ts" */
/** @import { TabView } from "../pages/bucket.js" */
/** @import { TimeRange } from "../charts/ranges.js" */

/** @param {Pick<TabView, "bucket" | "params" | "signal">} view */
export async function requestHistory({ bucket, params, signal }) {
  const span = spanOf(params);
  const range = /** @type {TimeRange} */ (ranges[span]);
  const content = h("div", {});
  const note = h("p", { class: "quiet small-text" });

  async function refresh() {
    const metrics = await load({ bucket, span }, signal);
    if (isUsed(content)) return;
    note.textContent = metrics === undefined ? "" : explanation(metrics);
    content.replaceChildren(metrics === undefined ? off() : draw(metrics, range));
  }

  await refresh();
  const timer = setInterval(() => {
    refresh().catch((error) => isAbort(error) || noteFailure(error));
  }, refreshMilliseconds);
  signal.addEventListener("abort", () => clearInterval(timer));
  const links = Object.entries(ranges).map(([id, { label }]) => ({
    ...{ id, label, href: pageHref("bucket", { bucket, tab: "metrics", span: id }) },
  }));
  return h(
    "section",
    { class: "stack", "aria-label": "Requests over time" },
    h(
      "div",
      { class: "page-head section-head" },
      h("h2", {}, "Requests over time"),
      segments("Time range", links, span),
    ),
    content,
    note,
  );
}

/**
 * @param {BucketMetricsDocument} metrics
 * @param {TimeRange} range
 */
function draw({ points, isPartial, maxBuckets }, { name, milliseconds }) {
  if (points.length > 0) {
    const { requests, errors, bytes } = requestCharts(points, milliseconds);
    return h("div", { class: "charts" }, requests, errors, bytes);
  }
  const reason = isPartial
    ? `In each interval, the ${maxBuckets} buckets with the most requests are counted, and this bucket was not one of them.`
    : "A request to the bucket by the S3 API, its public address or a bucket socket shows here within seconds.";
  return h(
    "div",
    { class: "card card-body" },
    h("p", {}, `No requests to this bucket are known for ${name}.`),
    h("p", { class: "quiet" }, reason),
  );
}

/** @param {BucketMetricsDocument} metrics */
function explanation({ points, isPartial, maxBuckets }) {
  if (points.length === 0) return "";
  const scope =
    "Requests by the S3 API, the public address and bucket sockets; those of this console are not counted.";
  return isPartial
    ? `${scope} A gap in a line: the bucket was not one of the ${maxBuckets} buckets with the most requests.`
    : scope;
}

function off() {
  return h(
    "div",
    { class: "card card-body" },
    h("p", { class: "quiet" }, "Metrics are off on this server. Start it without --no-metrics."),
  );
}

/**
 * Undefined if metrics are off.
 *
 * @param {{ bucket: string, span: string }} query
 * @param {AbortSignal} signal
 * @returns {Promise<BucketMetricsDocument | undefined>}
 */
async function load(query, signal) {
  try {
    return await ask("/api/bucket/metrics", { query, signal });
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
