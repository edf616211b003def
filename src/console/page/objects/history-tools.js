// Bar above the tab Versions and deleted: the deleted objects of now, or all objects as of a time,
// which can be restored.
import { may } from "../client/permissions.js";
import { go, pageHref } from "../client/router.js";
import { openForm } from "../elements/dialog.js";
import { h, icon } from "../elements/dom.js";
import { localText, time } from "../elements/format.js";
import { icons } from "../elements/icons.js";
import { restoreFolder } from "./restoring.js";

/** @import { VersioningState } from "../../wire-types.ts" */

/** @typedef {Record<string, string | undefined>} RouteParams */

/**
 * Parses the time in the URL. Undefined if there is none.
 *
 * @param {URLSearchParams} params
 */
export function parseAt(params) {
  const text = params.get("at") ?? "";
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/**
 * @param {object} options
 * @param {RouteParams} options.params
 * @param {number | undefined} options.at
 * @param {VersioningState} options.versioning
 */
export function historyBar({ params, at, versioning }) {
  if (at !== undefined) return historyNotice(params, at);
  if (versioning === "off") return undefined;
  return h(
    "div",
    { class: "history-bar" },
    h(
      "p",
      { class: "quiet" },
      "Deleted objects, which can be restored. Or look at the whole bucket at an earlier time.",
    ),
    h("button", { type: "button", onclick: () => openTimeForm(params) }, icon(icons.history), "As of…"),
  );
}

/**
 * Marks the list as history.
 *
 * @param {RouteParams} params
 * @param {number} at
 */
function historyNotice(params, at) {
  const { bucket = "", prefix = "" } = params;
  const now = { ...params, at: undefined };
  const restore = () => restoreFolder({ bucket, prefix, at }, () => go("objects", now));
  return h(
    "div",
    { class: "notice history", role: "note" },
    h("span", {}, "History: the objects as of ", h("strong", {}, time(at)), ". They cannot be changed here."),
    h("button", { type: "button", onclick: () => openTimeForm(params) }, "Change time"),
    may("edit", bucket) &&
      h(
        "button",
        { type: "button", onclick: () => void restore() },
        prefix === "" ? "Restore bucket to this time" : "Restore folder to this time",
      ),
    h("a", { class: "button", href: pageHref("objects", now) }, "Back to now"),
  );
}

/** @param {RouteParams} params */
function openTimeForm(params) {
  const now = Date.now();
  const chosen = params.at === undefined ? now : Number(params.at);
  const input = h("input", {
    ...{ id: "history-time", type: "datetime-local", step: 1, required: true },
    ...{ value: localText(chosen), max: localText(now) },
  });
  openForm({
    title: "Show the objects as of a time",
    submit: "Show",
    content: [h("div", { class: "field" }, h("label", { for: "history-time" }, "Date and time"), input)],
    async run() {
      const { prefix, bucket, view } = params;
      const at = Math.min(new Date(input.value).getTime(), Date.now());
      go("objects", { bucket, prefix, view, at: String(at) });
    },
  });
}
