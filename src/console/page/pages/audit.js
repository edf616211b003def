// Page of the audit log: who changed what, when and from where; found by text, kind and time.
import { auditFilters } from "../audit/filters.js";
import { verifyChain } from "../audit/verification.js";
import { ask } from "../client/api.js";
import { go } from "../client/router.js";
import { h, icon } from "../elements/dom.js";
import { counted, time } from "../elements/format.js";
import { icons } from "../elements/icons.js";
import { firstStep, isAbort, noteFailure } from "../elements/notices.js";
import { table, tableRow } from "../elements/table.js";
import { addShortcuts } from "../frame/shortcuts.js";

/** @import { AuditDocument, AuditRow } from "../../wire-administration.ts" */
/** @import { Column } from "../elements/table.js" */
/** @import { View } from "../frame/pages.js" */

/** @type {readonly Column[]} */
const columns = [
  { name: "Action" },
  { name: "On" },
  { name: "Who" },
  { name: "From" },
  { name: "Time", kind: "when" },
];

/** @param {View} view */
export async function render({ params, signal }) {
  const results = h("div", { class: "stack" });
  const status = h("p", { class: "quiet small-text table-note", role: "status" });
  const filters = auditFilters(params, (chosen) => {
    // The address has the filter, without a new page in the history for every letter.
    history.replaceState(null, "", `#/audit${chosen === "" ? "" : `?${chosen}`}`);
    void show().catch((error) => isAbort(error) || noteFailure(error));
  });
  let latest = 0;

  async function show() {
    const run = ++latest;
    /** @type {AuditDocument} */
    const found = await ask("/api/audit", { query: filters.query(), signal });
    if (run !== latest) return;
    const rows = found.entries.map(auditRow);
    status.textContent = rows.length === 0 ? "" : countText(rows.length);
    if (rows.length === 0) {
      results.replaceChildren(nothingFound(filters.isFiltered()));
      return;
    }
    const shown = table({ label: "Entries", columns, rows });
    const body = shown.querySelector("tbody");
    results.replaceChildren(shown, moreButton(found, body));
  }

  /**
   * @param {AuditDocument} found
   * @param {HTMLElement | null} body
   */
  function moreButton({ before }, body) {
    const button = h(
      "button",
      { class: "own-width", type: "button", hidden: before === undefined },
      "Show older",
    );
    let next = before;
    button.addEventListener("click", async () => {
      button.disabled = true;
      try {
        /** @type {AuditDocument} */
        const older = await ask("/api/audit", { query: { ...filters.query(), before: next }, signal });
        body?.append(...older.entries.map(auditRow));
        next = older.before;
        button.hidden = next === undefined;
        status.textContent = countText(body?.children.length ?? 0);
      } catch (error) {
        noteFailure(error);
      } finally {
        button.disabled = false;
      }
    });
    return button;
  }

  addShortcuts(signal, [{ key: "/", does: "Filter the entries", run: () => filters.focus() }]);
  await show();
  return h(
    "div",
    {},
    h(
      "div",
      { class: "page-head" },
      h("h1", {}, "Audit"),
      h(
        "button",
        { type: "button", onclick: () => verifyChain(signal) },
        icon(icons.check),
        "Verify the chain",
      ),
    ),
    h(
      "p",
      { class: "quiet lead" },
      "Every sign-in, every denied request, and every change to buckets, settings, keys, users and secrets. Deletions of objects are here if they were made in the console.",
    ),
    filters.element,
    status,
    results,
  );
}

/** @param {number} count */
function countText(count) {
  return `${counted(count, "entry", "entries")}, the newest first`;
}

/** @param {AuditRow} entry */
function auditRow({ time: at, action, subject, detail, count, by }) {
  const isDanger = /^(delete|revoke|deny|refuse|bypass)/.test(action);
  const times = count > 1 ? h("span", { class: "quiet" }, ` × ${count}`) : undefined;
  return tableRow(columns, [
    [h("span", { class: isDanger ? "badge failed" : "badge" }, action), times],
    [
      subject === null ? h("span", { class: "quiet" }, "–") : h("span", {}, subject),
      detail === null ? undefined : h("p", { class: "quiet small-text detail" }, detail),
    ],
    by.name ?? h("span", { class: "quiet" }, "unknown"),
    [by.face, by.address === null ? undefined : h("p", { class: "quiet small-text" }, by.address)],
    time(at),
  ]);
}

/** @param {boolean} isFiltered */
function nothingFound(isFiltered) {
  if (!isFiltered)
    return firstStep({
      icon: "audit",
      title: "No entries yet",
      text: ["The first change to the store appears here."],
    });
  const reset = h(
    "button",
    { type: "button", onclick: () => go("audit", { all: String(Date.now()) }) },
    "Show all entries",
  );
  return firstStep({
    ...{ icon: "search", title: "No entry matches", actions: [reset] },
    text: ["Try fewer words, another kind of action, or a longer time."],
  });
}
