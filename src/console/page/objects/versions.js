// Versions of an object: a table with download, restore, and delete for good.
import { address, ask } from "../client/api.js";
import { may } from "../client/permissions.js";
import { openForm } from "../elements/dialog.js";
import { h } from "../elements/dom.js";
import { bytes, time } from "../elements/format.js";
import { note, noteFailure } from "../elements/notices.js";
import { lockBadge } from "./locks.js";

/** @import { VersionRow, VersionsDocument } from "../../wire-types.ts" */

/**
 * @typedef {object} VersionsOptions
 * @property {string} bucket
 * @property {string} key
 * @property {VersionsDocument} page the first page
 * @property {AbortSignal} signal
 * @property {() => Promise<void>} refresh
 */

/** @param {VersionsOptions} options */
export function versionsSection(options) {
  const { bucket, key, page, signal } = options;
  let { cursor } = page;
  const canRestore = page.versioning === "on" && may("edit", bucket);
  /** @param {VersionsDocument} some */
  const rowsOf = (some) => some.versions.map((version) => versionRow(version, canRestore, options));
  const body = h("tbody", {}, ...rowsOf(page));
  const more = h("button", { type: "button", hidden: cursor === undefined, onclick: loadMore }, "Show more");

  async function loadMore() {
    try {
      /** @type {VersionsDocument} */
      const next = await ask("/api/versions", { query: { bucket, key, cursor }, signal });
      body.append(...rowsOf(next));
      cursor = next.cursor;
      more.hidden = cursor === undefined;
    } catch (error) {
      noteFailure(error);
    }
  }

  const heads = ["Written", "Size", "State"].map((name) =>
    h("th", { scope: "col", class: name === "Size" ? "number" : undefined }, name),
  );
  return h(
    "section",
    { class: "card versions", "aria-label": "Versions" },
    h("h2", {}, "Versions"),
    page.versioning === "suspended" && may("edit", bucket)
      ? h("p", { class: "quiet" }, "Versioning is suspended. Turn it on to restore a version.")
      : undefined,
    h(
      "div",
      { class: "table-scroll" },
      h(
        "table",
        { class: "stacks" },
        h(
          "thead",
          {},
          h("tr", {}, ...heads, h("th", { scope: "col" }, h("span", { class: "unseen" }, "Actions"))),
        ),
        body,
      ),
    ),
    more,
  );
}

/**
 * @param {VersionRow} row
 * @param {boolean} canRestore
 * @param {VersionsOptions} options
 */
function versionRow(row, canRestore, options) {
  const { version, uploaded, size, isCurrent, isDeleteMarker, isEncrypted, lock } = row;
  const { bucket, key } = options;
  const written = time(uploaded);
  const download = address("/api/content", { bucket, key, version });
  return h(
    "tr",
    {},
    h("th", { scope: "row", title: version }, written),
    h("td", { class: "number", "data-name": "Size" }, size === undefined ? "–" : bytes(size)),
    h(
      "td",
      { "data-name": "State" },
      h(
        "span",
        { class: "badges" },
        stateBadge(isCurrent, isDeleteMarker) ?? (lock === undefined ? "Earlier" : undefined),
        lockBadge(lock, "with end"),
      ),
    ),
    h(
      "td",
      {},
      h(
        "div",
        { class: "row-tools" },
        isDeleteMarker || isEncrypted === true
          ? undefined
          : h(
              "a",
              {
                class: "button",
                href: download,
                download: "",
                "aria-label": `Download version of ${written}`,
              },
              "Download",
            ),
        isDeleteMarker || isCurrent || !canRestore
          ? undefined
          : h(
              "button",
              {
                type: "button",
                title: "Restore this version",
                "aria-label": `Restore version of ${written}`,
                onclick: () => void restore(row, options),
              },
              "Restore",
            ),
        may("edit", bucket) &&
          h(
            "button",
            {
              class: "danger-plain",
              type: "button",
              "aria-label": `Delete version of ${written}`,
              onclick: () => openVersionDeletion(row, options),
            },
            "Delete",
          ),
      ),
    ),
  );
}

/**
 * @param {boolean} isCurrent
 * @param {boolean} isDeleteMarker
 */
function stateBadge(isCurrent, isDeleteMarker) {
  if (isDeleteMarker) return h("span", { class: "badge deleted" }, isCurrent ? "Deleted" : "Delete marker");
  return isCurrent ? h("span", { class: "badge active" }, "Current") : undefined;
}

/**
 * @param {VersionRow} row
 * @param {VersionsOptions} options
 */
async function restore({ version, uploaded }, { bucket, key, refresh }) {
  try {
    await ask("/api/versions/restore", { method: "POST", json: { bucket, key, version } });
    note(`Restored the version of ${time(uploaded)}.`);
    await refresh();
  } catch (error) {
    noteFailure(error);
  }
}

/**
 * @param {VersionRow} row
 * @param {VersionsOptions} options
 */
function openVersionDeletion(row, { bucket, key, refresh }) {
  const { version, uploaded, isCurrent, isDeleteMarker } = row;
  const what = isDeleteMarker ? "delete marker" : "version";
  openForm({
    title: `Delete this ${what} for good?`,
    danger: true,
    submit: `Delete ${what}`,
    content: [
      h("p", {}, `It was written at ${time(uploaded)}. This cannot be undone.`),
      isCurrent ? h("p", {}, "The next older version becomes current.") : "",
    ],
    async run() {
      await ask("/api/versions/delete", { method: "POST", json: { bucket, key, version } });
      note(`Deleted the ${what} of ${time(uploaded)} for good.`);
      void refresh().catch(noteFailure);
    },
  });
}
