// Page of incomplete multipart uploads in all buckets. Their parts use space, but no object listing
// shows them.
import { ask } from "../client/api.js";
import { may } from "../client/permissions.js";
import { pageHref } from "../client/router.js";
import { openForm } from "../elements/dialog.js";
import { h } from "../elements/dom.js";
import { bytes, counted, duration, number, time } from "../elements/format.js";
import { empty, isAbort, note, noteFailure } from "../elements/notices.js";
import { maskControls } from "../objects/row.js";

/** @import { BucketsDocument, UploadRow, UploadsDocument } from "../../wire-types.ts" */
/** @import { View } from "../frame/pages.js" */

/** @param {View} view */
export async function render({ signal }) {
  const rows = h("tbody", {});
  const table = uploadTable(rows);
  const statusText = h("p", { class: "quiet", role: "status" });
  const content = h(
    "div",
    {},
    h(
      "div",
      { class: "page-head" },
      h("h1", {}, "Uploads in progress"),
      h("button", { type: "button", onclick: () => refresh().catch(noteFailure) }, "Refresh"),
    ),
    h("div", { class: "card table-scroll" }, table),
    statusText,
  );

  async function refresh() {
    rows.replaceChildren();
    let count = 0;
    let size = 0;
    for await (const upload of listUploads(signal)) {
      rows.append(uploadRow(upload, refresh));
      count++;
      size += upload.bytes;
    }
    statusText.textContent = count === 0 ? "" : `${counted(count, "upload")}, ${bytes(size)} in total`;
    table.hidden = count === 0;
    table.parentElement?.querySelector(".state")?.remove();
    if (count === 0)
      table.after(
        empty("No uploads in progress", "Multipart uploads appear here until they are completed or aborted."),
      );
  }

  refresh().catch((error) => isAbort(error) || noteFailure(error));
  return content;
}

/**
 * @param {AbortSignal} signal
 * @returns {AsyncIterable<UploadRow>}
 */
async function* listUploads(signal) {
  /** @type {BucketsDocument} */
  const { buckets } = await ask("/api/buckets", { signal });
  for (const { name: bucket } of buckets) {
    /** @type {string | undefined} */
    let cursor;
    do {
      /** @type {UploadsDocument} */
      const page = await ask("/api/uploads", { query: { bucket, cursor }, signal });
      yield* page.uploads;
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
}

/** @param {HTMLElement} rows */
function uploadTable(rows) {
  const heads = ["Key", "Bucket", "Started", "Parts", "Size", "Expires"].map((name) =>
    h("th", { scope: "col", class: name === "Parts" || name === "Size" ? "number" : undefined }, name),
  );
  const tools = h("th", { scope: "col" }, h("span", { class: "unseen" }, "Actions"));
  return h("table", { class: "stacks" }, h("thead", {}, h("tr", {}, ...heads, tools)), rows);
}

/**
 * @param {UploadRow} upload
 * @param {() => Promise<void>} refresh
 */
function uploadRow(upload, refresh) {
  const { bucket, key, created, due, parts } = upload;
  const now = Date.now();
  return h(
    "tr",
    {},
    h("th", { scope: "row", class: "mono" }, maskControls(key)),
    h("td", { "data-name": "Bucket" }, h("a", { href: pageHref("objects", { bucket }) }, bucket)),
    h("td", { "data-name": "Started", title: time(created) }, `${duration(now - created)} ago`),
    h("td", { "data-name": "Parts", class: "number" }, number(parts)),
    h("td", { "data-name": "Size", class: "number" }, bytes(upload.bytes)),
    h("td", { "data-name": "Expires", title: time(due) }, `in ${duration(due - now)}`),
    h(
      "td",
      {},
      h(
        "div",
        { class: "row-tools" },
        may("edit", bucket) &&
          h(
            "button",
            { type: "button", "aria-label": `Abort ${key}`, onclick: () => openAbort(upload, refresh) },
            "Abort",
          ),
      ),
    ),
  );
}

/**
 * @param {UploadRow} upload
 * @param {() => Promise<void>} refresh
 */
function openAbort({ bucket, key, id, parts, bytes: size }, refresh) {
  openForm({
    title: "Abort this upload?",
    submit: "Abort upload",
    danger: true,
    content: [
      h("p", { class: "mono" }, maskControls(key)),
      h(
        "p",
        {},
        `This permanently deletes ${counted(parts, "part")} (${bytes(size)}). Clients can no longer continue this upload.`,
      ),
    ],
    async run() {
      await ask("/api/uploads", { method: "DELETE", query: { bucket, key, upload: id } });
      note("Aborted the upload.");
      await refresh();
    },
  });
}
