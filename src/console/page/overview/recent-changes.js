// The latest entries of the audit log, for administrators.
import { pageHref } from "../client/router.js";
import { h } from "../elements/dom.js";
import { ago, time } from "../elements/format.js";

/** @import { AuditDocument } from "../../wire-administration.ts" */

/** @param {AuditDocument} document */
export function recentChanges({ entries }) {
  const items = entries.map(({ time: at, action, subject, by }) =>
    h(
      "li",
      {},
      h("span", {}, action, subject === null ? undefined : [" ", h("strong", {}, subject)]),
      h("time", { class: "quiet small-text", title: time(at) }, ago(at)),
      h("span", { class: "quiet small-text" }, by.name ?? by.face),
    ),
  );
  return h(
    "section",
    { class: "card", "aria-label": "Recent changes" },
    h(
      "div",
      { class: "card-head" },
      h("h2", {}, "Recent changes"),
      h("a", { href: pageHref("audit") }, "Audit log"),
    ),
    items.length === 0
      ? h("p", { class: "quiet card-body" }, "Changes to buckets, keys, users and settings appear here.")
      : h("ul", { class: "entries" }, ...items),
  );
}
