// Page of metrics: requests, latency, bytes, errors, stored data, and the scrub.
import { chart } from "../charts/chart.js";
import { ask } from "../client/api.js";
import { go } from "../client/router.js";
import { h } from "../elements/dom.js";
import { bytes, duration, number, time } from "../elements/format.js";
import { isAbort, noteFailure } from "../elements/notices.js";

/** @import { MetricsDocument, MetricsPoint } from "../../wire-types.ts" */
/** @import { View } from "../frame/pages.js" */

const refreshMilliseconds = 10_000;
const spans = { hour: "Last hour", day: "Last day", week: "Last week" };
const frontEnds = {
  "": "All except the console",
  s3: "S3 API",
  script: "Scripts",
  public: "Public buckets",
  console: "Console",
};

/** @param {View} view */
export async function render({ params, signal }) {
  const span = params.get("span") ?? "hour";
  const frontEnd = params.get("face") ?? "";
  const charts = h("div", { class: "charts" });

  async function refresh() {
    /** @type {MetricsDocument} */
    const metrics = await ask("/api/metrics", { query: { span, face: frontEnd || undefined }, signal });
    // Do not redraw while a table is open or has the focus: redrawing would close it.
    if (charts.querySelector("details[open]") !== null || charts.contains(document.activeElement)) return;
    charts.replaceChildren(...createCharts(metrics));
  }

  await refresh();
  const timer = setInterval(() => {
    refresh().catch((error) => isAbort(error) || noteFailure(error));
  }, refreshMilliseconds);
  signal.addEventListener("abort", () => clearInterval(timer));
  return h(
    "div",
    {},
    h(
      "div",
      { class: "page-head" },
      h("h1", {}, "Metrics"),
      h(
        "div",
        { class: "choices" },
        choice("Requests to", "metrics-face", frontEnds, frontEnd, (chosen) =>
          go("metrics", { span, face: chosen }),
        ),
        choice("Time range", "metrics-span", spans, span, (chosen) =>
          go("metrics", { span: chosen, face: frontEnd }),
        ),
      ),
    ),
    h("p", { class: "quiet" }, "Values since the start of this server, within the selected time range."),
    charts,
  );
}

/**
 * @param {string} label
 * @param {string} id
 * @param {Record<string, string>} options
 * @param {string} chosen
 * @param {(value: string) => void} choose
 */
function choice(label, id, options, chosen, choose) {
  const select = h(
    "select",
    { id, onchange: () => choose(select.value) },
    ...Object.entries(options).map(([value, name]) =>
      h("option", { value, selected: value === chosen }, name),
    ),
  );
  return h("div", { class: "choice" }, h("label", { for: id }, label), select);
}

/** @param {MetricsDocument} metrics */
function createCharts({ points, scrub }) {
  const times = points.map((point) => point.time);
  /** @param {(point: MetricsPoint) => number | undefined} value */
  const series = (value) => points.map(value);
  return [
    chart({
      ...{ title: "Requests per second", times, format: rate },
      lines: [{ name: "Requests", values: series((point) => point.requests) }],
    }),
    chart({
      ...{ title: "Latency", times, format: seconds },
      lines: [
        { name: "p50", values: series((point) => point.median) },
        { name: "p99", values: series((point) => point.slowest) },
      ],
    }),
    chart({
      ...{ title: "Bytes per second", times, format: bytes },
      lines: [
        { name: "In", values: series((point) => point.bytesIn) },
        { name: "Out", values: series((point) => point.bytesOut) },
      ],
    }),
    chart({
      ...{ title: "Errors per second", times, format: rate },
      lines: [
        { name: "4xx", values: series((point) => point.clientErrors) },
        { name: "5xx", values: series((point) => point.serverErrors) },
      ],
    }),
    chart({
      ...{ title: "Stored bytes", times, format: bytes },
      lines: [{ name: "Bytes", values: series((point) => point.stored) }],
    }),
    chart({
      ...{ title: "Stored objects", times, format: (value) => number(Math.round(value)) },
      lines: [{ name: "Objects", values: series((point) => point.objects) }],
    }),
    scrubCard(scrub),
  ];
}

/** @param {MetricsDocument["scrub"]} scrub */
function scrubCard({ isRunning, read, stored, damages, lastEnded }) {
  const last =
    lastEnded === null
      ? "No scrub has finished yet."
      : `The last scrub finished ${duration(Date.now() - lastEnded)} ago, at ${time(lastEnded)}.`;
  const share = read === null || !stored ? undefined : Math.min(1, read / stored);
  return h(
    "section",
    { class: "card chart", "aria-label": "Scrub" },
    h("h2", {}, "Scrub"),
    h(
      "p",
      {},
      isRunning
        ? `Running: read ${bytes(read ?? 0)} of ${bytes(stored ?? 0)}.`
        : "A scrub reads all stored data once a week. None is running now.",
    ),
    share === undefined
      ? undefined
      : h("progress", { max: "1", value: String(share), "aria-label": "Progress of the scrub" }),
    h("p", { class: "quiet" }, last),
    damages === 0
      ? h("p", {}, "No damage was found.")
      : h(
          "p",
          { class: "error-text" },
          `${number(damages)} damaged. Run store verify on the server for details.`,
        ),
  );
}

/** @param {number} value */
function rate(value) {
  if (value === 0) return "0";
  return value < 10 ? value.toFixed(2) : number(Math.round(value));
}

/** @param {number} value */
function seconds(value) {
  return value < 1 ? `${(value * 1000).toFixed(value < 0.01 ? 2 : 0)} ms` : `${value.toFixed(1)} s`;
}
