// Table of incomplete multipart uploads. Their parts use space, but no object listing shows them.
import { ask } from "../client/api.js";
import { may } from "../client/permissions.js";
import { pageHref } from "../client/router.js";
import { openForm } from "../elements/dialog.js";
import { h, icon } from "../elements/dom.js";
import { bytes, counted, duration, number, time } from "../elements/format.js";
import { icons } from "../elements/icons.js";
import { menuButton } from "../elements/menu.js";
import { firstStep, isAbort, note, noteFailure } from "../elements/notices.js";
import { table, tableRow } from "../elements/table.js";
import { maskControls } from "../objects/row.js";

/** @import { UploadRow, UploadsDocument } from "../../wire-types.ts" */
/** @import { Column } from "../elements/table.js" */

/**
 * @param {object} options
 * @param {() => Promise<readonly string[]>} options.buckets
 * @param {boolean} options.withBucket whether the table names the bucket
 * @param {AbortSignal} options.signal
 */
export function uploadTable({ buckets, withBucket, signal }) {
  /** @type {readonly Column[]} */
  const columns = [
    { name: "Key", kind: "mono" },
    ...(withBucket ? [{ name: "Bucket" }] : []),
    { name: "Started" },
    { name: "Parts", kind: "number" },
    { name: "Size", kind: "number" },
    { name: "Expires" },
  ];
  const area = h("div", {});
  const statusText = h("p", { class: "quiet small-text table-note", role: "status" });
  const button = h(
    "button",
    { type: "button", onclick: () => void refresh().catch(noteFailure) },
    icon(icons.retry),
    "Refresh",
  );

  async function refresh() {
    /** @type {UploadRow[]} */
    const all = [];
    for (const bucket of await buckets())
      for await (const upload of listUploads(bucket, signal)) all.push(upload);
    const size = all.reduce((sum, upload) => sum + upload.bytes, 0);
    statusText.textContent =
      all.length === 0 ? "" : `${counted(all.length, "upload")}, ${bytes(size)} in total`;
    area.replaceChildren(
      all.length === 0
        ? firstStep({
            icon: "uploads",
            title: "No uploads in progress",
            text: [
              "Large files are uploaded in parts. An upload appears here until it is completed or aborted; a lifecycle rule can clean up those that were given up.",
            ],
          })
        : table({ label: "Uploads in progress", columns, rows: all.map(row), hasTools: true }),
    );
  }

  /** @param {UploadRow} upload */
  function row(upload) {
    const { bucket, key, created, due, parts } = upload;
    const now = Date.now();
    const tools =
      may("edit", bucket) &&
      menuButton({
        label: `Actions for ${key}`,
        items: [{ label: "Abort…", icon: "remove", danger: true, run: () => openAbort(upload, refresh) }],
      });
    return tableRow(
      columns,
      [
        maskControls(key),
        ...(withBucket ? [h("a", { href: pageHref("objects", { bucket }) }, bucket)] : []),
        h("span", { title: time(created) }, `${duration(now - created)} ago`),
        number(parts),
        bytes(upload.bytes),
        h("span", { title: time(due) }, `in ${duration(due - now)}`),
      ],
      tools,
    );
  }

  refresh().catch((error) => isAbort(error) || noteFailure(error));
  return { element: h("div", {}, area, statusText), button };
}

/**
 * @param {string} bucket
 * @param {AbortSignal} signal
 * @returns {AsyncIterable<UploadRow>}
 */
async function* listUploads(bucket, signal) {
  /** @type {string | undefined} */
  let cursor;
  do {
    /** @type {UploadsDocument} */
    const page = await ask("/api/uploads", { query: { bucket, cursor }, signal });
    yield* page.uploads;
    cursor = page.cursor;
  } while (cursor !== undefined);
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
