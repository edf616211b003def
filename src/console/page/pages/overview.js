// The overview: usage, requests and errors over time, health, recent changes, and what to do next.
import { isUsed, ranges, refreshMilliseconds, spanOf } from "../charts/ranges.js";
import { ApiError, ask } from "../client/api.js";
import { may } from "../client/permissions.js";
import { go, pageHref } from "../client/router.js";
import { h } from "../elements/dom.js";
import { isAbort, noteFailure } from "../elements/notices.js";
import { segments } from "../elements/tabs.js";
import { healthCard } from "../overview/health.js";
import { createCharts } from "../overview/metrics-charts.js";
import { nextSteps } from "../overview/next-steps.js";
import { recentChanges } from "../overview/recent-changes.js";
import { createStats } from "../overview/stats.js";

/** @import { AuditDocument, HealthDocument } from "../../wire-administration.ts" */
/** @import { BucketsDocument, KeysDocument, MetricsDocument } from "../../wire-types.ts" */
/** @import { TimeRange } from "../charts/ranges.js" */
/** @import { View } from "../frame/pages.js" */

/** @type {Record<string, string>} */
const frontEnds = {
  "": "All requests",
  s3: "S3 API",
  script: "Scripts",
  public: "Public buckets",
  socket: "Bucket sockets",
  console: "Console",
};

/** @param {View} view */
export async function render({ params, signal }) {
  const span = spanOf(params);
  const frontEnd = Object.hasOwn(frontEnds, params.get("face") ?? "") ? (params.get("face") ?? "") : "";
  const stats = h("div", {});
  const charts = h("div", { class: "charts" });
  const side = h("div", { class: "stack" });
  const steps = h("div", {});

  async function refresh() {
    const loaded = await load({ span, frontEnd, signal });
    const { metrics, health, audit, buckets, keys } = loaded;
    side.replaceChildren(
      healthCard(health, metrics?.scrub),
      ...(audit === undefined ? [] : [recentChanges(audit)]),
    );
    const isNew = may("administer") && (buckets.length === 0 || keys === 0);
    const options = { hasBuckets: buckets.length > 0, hasKeys: keys !== 0, endpoint: health.endpoint };
    if (!isNew) steps.replaceChildren();
    else if (!steps.hasChildNodes()) steps.append(nextSteps(options));
    if (metrics === undefined || isUsed(charts)) return;
    const { name, milliseconds } = /** @type {TimeRange} */ (ranges[span]);
    stats.replaceChildren(createStats(metrics, name));
    charts.replaceChildren(...createCharts(metrics, milliseconds));
  }

  await refresh();
  const timer = setInterval(() => {
    refresh().catch((error) => isAbort(error) || noteFailure(error));
  }, refreshMilliseconds);
  signal.addEventListener("abort", () => clearInterval(timer));
  return h(
    "div",
    {},
    pageHead(span, frontEnd),
    h("div", { class: "stack" }, steps, stats),
    h("div", { class: "overview" }, charts, side),
  );
}

/**
 * @param {string} span
 * @param {string} frontEnd
 */
function pageHead(span, frontEnd) {
  const select = h(
    "select",
    {
      ...{ id: "overview-face", "aria-label": "Requests to" },
      onchange: () => go("overview", { span, face: select.value }),
    },
    ...Object.entries(frontEnds).map(([value, name]) =>
      h("option", { value, selected: value === frontEnd }, name),
    ),
  );
  const all = Object.entries(ranges).map(([id, { label }]) => ({
    ...{ id, label },
    href: pageHref("overview", { span: id, face: frontEnd }),
  }));
  return h(
    "div",
    { class: "page-head" },
    h("h1", {}, "Overview"),
    h("div", { class: "choices" }, select, segments("Time range", all, span)),
  );
}

/** @param {{ span: string, frontEnd: string, signal: AbortSignal }} options */
async function load({ span, frontEnd, signal }) {
  const isAdministrator = may("administer");
  /** @type {[MetricsDocument | undefined, HealthDocument, BucketsDocument, AuditDocument | undefined, KeysDocument | undefined]} */
  const [metrics, health, { buckets }, audit, keys] = await Promise.all([
    loadMetrics({ span, face: frontEnd || undefined }, signal),
    ask("/api/health", { signal }),
    ask("/api/buckets", { signal }),
    isAdministrator ? ask("/api/audit", { query: { limit: 8 }, signal }) : undefined,
    isAdministrator ? ask("/api/keys", { signal }) : undefined,
  ]);
  return { metrics, health, audit, buckets, keys: (keys?.keys ?? []).filter(isClientKey).length };
}

/**
 * A server has a key of its own, without a name and without grants.
 *
 * @param {KeysDocument["keys"][number]} key
 */
function isClientKey({ name, grants, lastUsed }) {
  return name !== null || grants !== null || lastUsed !== null;
}

/**
 * Undefined if metrics are off.
 *
 * @param {Record<string, string | undefined>} query
 * @param {AbortSignal} signal
 * @returns {Promise<MetricsDocument | undefined>}
 */
async function loadMetrics(query, signal) {
  try {
    return await ask("/api/metrics", { query, signal });
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
