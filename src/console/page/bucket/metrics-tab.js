// Tab Metrics: what the bucket contains, its requests over time, its quota, and what its unfinished
// uploads use.
import { ask } from "../client/api.js";
import { h } from "../elements/dom.js";
import { bytes, number, percent } from "../elements/format.js";
import { isAbort, noteFailure } from "../elements/notices.js";
import { requestHistory } from "./request-history.js";

/** @import { SettingsDocument } from "../../wire-settings.ts" */
/** @import { TotalsDocument, UploadsDocument } from "../../wire-types.ts" */
/** @import { TabContent, TabView } from "../pages/bucket.js" */

/**
 * @param {TabView} view
 * @returns {Promise<TabContent>}
 */
export async function renderTab({ bucket, params, signal }) {
  const query = { bucket };
  const [totals, settings, history] = await Promise.all([
    /** @type {Promise<TotalsDocument>} */ (ask("/api/buckets/totals", { query, signal })),
    /** @type {Promise<SettingsDocument>} */ (ask("/api/settings", { query, signal })),
    requestHistory({ bucket, params, signal }),
  ]);
  const all = totals.bytes + totals.noncurrentBytes;
  const uploads = stat("Unfinished uploads", "…", "");
  void uploadStat(bucket, signal).then(
    ({ count, size }) => {
      uploads.value.textContent = count;
      uploads.more.textContent = size;
    },
    (error) => isAbort(error) || noteFailure(error),
  );
  const average = totals.objects === 0 ? "" : `${bytes(totals.bytes / totals.objects)} on average`;
  const share = all === 0 ? "" : `${percent(totals.noncurrentBytes / all)} of all bytes`;
  const element = h(
    "div",
    { class: "stack" },
    h(
      "div",
      { class: "stats" },
      stat("Objects", number(totals.objects), average).element,
      stat("Size of objects", bytes(totals.bytes), `${number(totals.bytes)} B`).element,
      stat("Older versions", number(totals.noncurrentVersions), "with delete markers").element,
      stat("Size of older versions", bytes(totals.noncurrentBytes), share).element,
      uploads.element,
    ),
    history,
    compositionCard(totals),
    quotaCard(settings),
  );
  return { element };
}

/**
 * @param {string} name
 * @param {string} text
 * @param {string} about
 */
function stat(name, text, about) {
  const value = h("span", { class: "value" }, text);
  const more = h("span", { class: "more" }, about);
  return {
    value,
    more,
    element: h("div", { class: "card stat" }, h("span", { class: "name" }, name), value, more),
  };
}

/**
 * @param {string} bucket
 * @param {AbortSignal} signal
 */
async function uploadStat(bucket, signal) {
  /** @type {UploadsDocument} */
  const { uploads, cursor } = await ask("/api/uploads", { query: { bucket }, signal });
  const plus = cursor === undefined ? "" : "+";
  const size = uploads.reduce((sum, upload) => sum + upload.bytes, 0);
  return { count: `${number(uploads.length)}${plus}`, size: `${bytes(size)}${plus} in parts` };
}

/** @param {TotalsDocument} totals */
function compositionCard({ bytes: current, noncurrentBytes }) {
  const all = current + noncurrentBytes;
  return h(
    "section",
    { class: "card" },
    h("div", { class: "card-head" }, h("h2", {}, "Stored bytes")),
    h(
      "div",
      { class: "card-body" },
      meter("Objects and older versions", [
        { name: "Objects", share: all === 0 ? 0 : current / all, text: bytes(current), series: 1 },
        {
          name: "Older versions",
          share: all === 0 ? 0 : noncurrentBytes / all,
          text: bytes(noncurrentBytes),
          series: 2,
        },
      ]),
    ),
  );
}

/** @param {SettingsDocument} settings */
function quotaCard({ quota, usage }) {
  if (quota === null || usage === null)
    return h(
      "section",
      { class: "card" },
      h("div", { class: "card-head" }, h("h2", {}, "Quota")),
      h(
        "div",
        { class: "card-body" },
        h("p", { class: "quiet" }, "No quota: the bucket may grow without a limit."),
      ),
    );
  /** @param {number} used @param {number} max */
  const share = (used, max) => (max === 0 ? 1 : Math.min(1, used / max));
  const rows = [
    ...(quota.bytes === undefined
      ? []
      : [
          meter("Quota of bytes", [
            {
              ...{ name: "Bytes", share: share(usage.bytes, quota.bytes), series: 1 },
              text: `${bytes(usage.bytes)} of ${bytes(quota.bytes)} (${percent(usage.bytes / (quota.bytes || 1))})`,
            },
          ]),
        ]),
    ...(quota.objects === undefined
      ? []
      : [
          meter("Quota of objects", [
            {
              ...{ name: "Objects and versions", share: share(usage.objects, quota.objects), series: 3 },
              text: `${number(usage.objects)} of ${number(quota.objects)} (${percent(usage.objects / (quota.objects || 1))})`,
            },
          ]),
        ]),
  ];
  return h(
    "section",
    { class: "card" },
    h("div", { class: "card-head" }, h("h2", {}, "Quota")),
    h("div", { class: "card-body" }, ...rows),
  );
}

/**
 * @param {string} label
 * @param {readonly { name: string, share: number, text: string, series: number }[]} parts
 */
function meter(label, parts) {
  const bars = parts.map(({ share, series }) => {
    const bar = h("span", { class: `series-${series}` });
    bar.style.width = `${share * 100}%`;
    return bar;
  });
  return h(
    "div",
    { class: "meter-field" },
    h(
      "div",
      {
        class: "meter",
        role: "img",
        "aria-label": `${label}: ${parts.map(({ name, text }) => `${name} ${text}`).join(", ")}`,
      },
      ...bars,
    ),
    h(
      "ul",
      { class: "legend" },
      ...parts.map(({ name, text, series }) =>
        h(
          "li",
          {},
          h("span", { class: `swatch series-${series}` }),
          `${name} `,
          h("span", { class: "quiet" }, text),
        ),
      ),
    ),
  );
}
