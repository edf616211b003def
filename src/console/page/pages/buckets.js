// Page of buckets with their totals; creates, empties and deletes buckets.
import { ask } from "../client/api.js";
import { may } from "../client/permissions.js";
import { pageHref } from "../client/router.js";
import { openConfirmation, openForm } from "../elements/dialog.js";
import { h, icon } from "../elements/dom.js";
import { bytes, number, time } from "../elements/format.js";
import { icons } from "../elements/icons.js";
import { emptyCard, isAbort, note, noteFailure } from "../elements/notices.js";
import { addShortcuts } from "../frame/shortcuts.js";
import { emptyBucket } from "../objects/deletion.js";

/** @import { BucketDocument, BucketsDocument, TotalsDocument } from "../../wire-types.ts" */
/** @import { View } from "../frame/pages.js" */

/** @param {View} view */
export async function render({ signal }) {
  const content = h("div", {});

  async function refresh() {
    /** @type {BucketsDocument} */
    const { buckets } = await ask("/api/buckets", { signal });
    const create = () => openCreation(refresh);
    const head = h(
      "div",
      { class: "page-head" },
      h("h1", {}, "Buckets"),
      may("administer")
        ? h("button", { class: "primary", type: "button", onclick: create }, icon(icons.add), "Create bucket")
        : undefined,
    );
    const rows = buckets.map((bucket) => bucketRow(bucket, refresh));
    content.replaceChildren(head, rows.length === 0 ? emptyState() : table(rows.map(({ row }) => row)));
    void loadTotals(rows, signal);
  }

  if (may("administer"))
    addShortcuts(signal, [{ key: "c", does: "Create a bucket", run: () => openCreation(refresh) }]);
  await refresh();
  return content;
}

function emptyState() {
  if (!may("administer"))
    return emptyCard("There are no buckets that you can see", "Ask an administrator for a role.");
  return emptyCard(
    "There are no buckets yet",
    "Buckets contain objects. Create one here, or with ",
    h("code", {}, "store bucket create"),
  );
}

/** @param {readonly HTMLTableRowElement[]} rows */
function table(rows) {
  const names = ["Name", "Objects", "Size", "Default class", "Created"];
  const heads = names.map((name) =>
    h("th", { scope: "col", class: name === "Objects" || name === "Size" ? "number" : undefined }, name),
  );
  return h(
    "div",
    { class: "card table-scroll" },
    h(
      "table",
      { class: "stacks" },
      h(
        "thead",
        {},
        h("tr", {}, ...heads, h("th", { scope: "col" }, h("span", { class: "unseen" }, "Actions"))),
      ),
      h("tbody", {}, ...rows),
    ),
  );
}

/**
 * @param {BucketDocument} bucket
 * @param {() => Promise<void>} refresh
 */
function bucketRow({ name, created, storageClass }, refresh) {
  const objects = h("td", { class: "number", "data-name": "Objects" }, "…");
  const size = h("td", { class: "number", "data-name": "Size" }, "…");
  const row = h(
    "tr",
    {},
    h("th", { scope: "row" }, h("a", { href: pageHref("objects", { bucket: name }) }, name)),
    objects,
    size,
    h("td", { "data-name": "Default class" }, storageClass),
    h("td", { "data-name": "Created" }, time(created)),
    h(
      "td",
      {},
      h(
        "div",
        { class: "row-tools" },
        h(
          "a",
          { class: "button", href: pageHref("rules", { bucket: name }), "aria-label": `Settings of ${name}` },
          "Settings",
        ),
        may("edit", name) &&
          h(
            "button",
            { type: "button", "aria-label": `Empty ${name}`, onclick: () => openEmptyDialog(name, refresh) },
            "Empty",
          ),
        may("administer", name) &&
          h(
            "button",
            { type: "button", "aria-label": `Delete ${name}`, onclick: () => openDeletion(name, refresh) },
            "Delete",
          ),
      ),
    ),
  );
  return { name, row, objects, size };
}

/**
 * Loads totals one bucket at a time, to limit the server load. The list is already shown.
 *
 * @param {readonly ReturnType<typeof bucketRow>[]} rows
 * @param {AbortSignal} signal
 */
async function loadTotals(rows, signal) {
  for (const { name, objects, size } of rows) {
    try {
      /** @type {TotalsDocument} */
      const totals = await ask("/api/buckets/totals", { query: { bucket: name }, signal });
      objects.textContent = number(totals.objects);
      size.textContent = bytes(totals.bytes);
    } catch (error) {
      if (isAbort(error)) return;
      objects.textContent = size.textContent = "unknown";
    }
  }
}

/** @param {() => Promise<void>} refresh */
function openCreation(refresh) {
  const name = h("input", {
    id: "bucket-name",
    autocomplete: "off",
    spellcheck: "false",
    required: true,
    minlength: 3,
    maxlength: 63,
    "aria-describedby": "bucket-name-help",
  });
  const storageClass = h(
    "select",
    { id: "bucket-class" },
    h("option", { value: "Standard" }, "Standard"),
    h("option", { value: "InfrequentAccess" }, "Infrequent access"),
  );
  openForm({
    title: "Create a bucket",
    submit: "Create",
    content: [
      h("label", { for: "bucket-name" }, "Name"),
      name,
      h(
        "p",
        { id: "bucket-name-help", class: "quiet" },
        "3 to 63 lowercase letters, digits, dots and dashes.",
      ),
      h("label", { for: "bucket-class" }, "Default storage class"),
      storageClass,
    ],
    async run() {
      await ask("/api/buckets", {
        method: "POST",
        json: { name: name.value, storageClass: storageClass.value },
      });
      note(`Created bucket ${name.value}.`);
      await refresh();
    },
  });
  name.focus();
}

/**
 * @param {string} name
 * @param {() => Promise<void>} refresh
 */
function openDeletion(name, refresh) {
  openConfirmation({
    name,
    title: `Delete bucket ${name}?`,
    submit: "Delete bucket",
    content: [
      h(
        "p",
        {},
        "Only a bucket without objects and versions can be deleted. Its uploads in progress are aborted.",
      ),
    ],
    async run() {
      await ask("/api/buckets", { method: "DELETE", query: { bucket: name } });
      note(`Deleted bucket ${name}.`);
      await refresh();
    },
  });
}

/**
 * @param {string} name
 * @param {() => Promise<void>} refresh
 */
function openEmptyDialog(name, refresh) {
  openConfirmation({
    name,
    title: `Empty bucket ${name}?`,
    submit: "Delete all objects",
    content: [
      h(
        "p",
        {},
        "This deletes all objects in the bucket: permanently, unless versioning is on and keeps their versions. The bucket and its settings stay.",
      ),
    ],
    async run() {
      void emptyBucket(name).then(refresh).catch(noteFailure);
    },
  });
}
