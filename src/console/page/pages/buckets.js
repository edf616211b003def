// Page of buckets with their totals; creates, empties and deletes buckets.
import { openCreation, openDeletion, openEmptying } from "../bucket/bucket-dialogs.js";
import { ask } from "../client/api.js";
import { may } from "../client/permissions.js";
import { go, pageHref } from "../client/router.js";
import { h, icon } from "../elements/dom.js";
import { ago, bytes, counted, number, time } from "../elements/format.js";
import { icons } from "../elements/icons.js";
import { menuButton } from "../elements/menu.js";
import { empty, firstStep, isAbort, noteFailure } from "../elements/notices.js";
import { table, tableRow } from "../elements/table.js";
import { addShortcuts } from "../frame/shortcuts.js";

/** @import { BucketsDocument, TotalsDocument } from "../../wire-types.ts" */
/** @import { View } from "../frame/pages.js" */
/** @import { Column } from "../elements/table.js" */

/** @typedef {BucketsDocument["buckets"][number]} Bucket */

/** @type {readonly Column[]} */
const columns = [
  { name: "Name" },
  { name: "Objects", kind: "number" },
  { name: "Size", kind: "number" },
  { name: "Access" },
  { name: "Class" },
  { name: "Created", kind: "when" },
];

/** A filter is offered from this number of buckets. */
const minFiltered = 6;

/** @param {View} view */
export async function render({ params, signal }) {
  const content = h("div", {});
  /** @type {readonly Bucket[]} */
  let buckets = [];
  const area = h("div", {});
  const filter = h("input", {
    ...{ type: "search", "aria-label": "Filter by name", placeholder: "Filter by name" },
    ...{ autocomplete: "off", spellcheck: "false", oninput: () => draw() },
  });
  const create = () => openCreation((name) => go("objects", { bucket: name }));

  function draw() {
    const text = filter.value.trim().toLowerCase();
    const shown = buckets.filter(({ name }) => name.includes(text));
    const rows = shown.map((bucket) => bucketRow(bucket, refreshSafely));
    if (buckets.length === 0) area.replaceChildren(emptyState(create));
    else if (rows.length === 0)
      area.replaceChildren(
        h("div", { class: "card" }, empty("No bucket has this name", "Change the filter.")),
      );
    else {
      const list = table({ label: "Buckets", columns, rows: rows.map(({ row }) => row), hasTools: true });
      area.replaceChildren(list, h("p", { class: "quiet small-text" }, counted(shown.length, "bucket")));
    }
    void loadTotals(rows, signal);
  }

  async function refresh() {
    /** @type {BucketsDocument} */
    const document = await ask("/api/buckets", { signal });
    buckets = document.buckets;
    head.hidden = buckets.length === 0 && may("administer");
    search.hidden = buckets.length < minFiltered;
    draw();
  }
  const refreshSafely = () => void refresh().catch(noteFailure);

  const search = h("div", { class: "search" }, icon(icons.search), filter);
  const head = h(
    "div",
    { class: "page-head" },
    h("h1", {}, "Buckets"),
    search,
    may("administer")
      ? h("button", { class: "primary", type: "button", onclick: create }, icon(icons.add), "Create bucket")
      : undefined,
  );
  content.append(head, area);
  if (may("administer")) addShortcuts(signal, [{ key: "c", does: "Create a bucket", run: create }]);
  await refresh();
  if (params.get("create") === "1" && may("administer")) queueMicrotask(create);
  return content;
}

/** @param {() => void} create */
function emptyState(create) {
  if (!may("administer"))
    return firstStep({
      icon: "buckets",
      title: "There are no buckets that you can see",
      text: ["Ask an administrator for a role on a bucket."],
    });
  return firstStep({
    icon: "buckets",
    title: "Create your first bucket",
    text: ["A bucket contains objects: files of any size, each with a name, a type and metadata."],
    actions: [
      h("button", { class: "primary", type: "button", onclick: create }, icon(icons.add), "Create bucket"),
    ],
  });
}

/**
 * @param {Bucket} bucket
 * @param {() => void} refresh
 */
function bucketRow({ name, created, storageClass, isPublic }, refresh) {
  const objects = h("span", {}, "…");
  const size = h("span", {}, "…");
  const tools = menuButton({
    label: `Actions for ${name}`,
    items: [
      { label: "Open", icon: "folder", href: pageHref("objects", { bucket: name }) },
      { label: "Settings", icon: "rules", href: pageHref("bucket", { bucket: name, tab: "settings" }) },
      { label: "Access", icon: "users", href: pageHref("bucket", { bucket: name, tab: "access" }) },
      may("edit", name) && "line",
      may("edit", name) && {
        ...{ label: "Empty…", icon: "remove", danger: true },
        run: () => openEmptying(name, refresh),
      },
      may("administer", name) && {
        ...{ label: "Delete…", icon: "remove", danger: true },
        run: () => void openDeletion(name, refresh),
      },
    ],
  });
  const row = tableRow(
    columns,
    [
      h("a", { href: pageHref("objects", { bucket: name }) }, name),
      objects,
      size,
      accessBadge(isPublic),
      storageClass,
      h("span", { title: time(created) }, ago(created)),
    ],
    tools,
  );
  return { name, row, objects, size };
}

/** @param {boolean} isPublic */
export function accessBadge(isPublic) {
  return isPublic ? h("span", { class: "badge public" }, "Public") : h("span", { class: "badge" }, "Private");
}

/**
 * Loads totals one bucket at a time, to limit the server load. The list is already shown.
 *
 * @param {readonly ReturnType<typeof bucketRow>[]} rows
 * @param {AbortSignal} signal
 */
async function loadTotals(rows, signal) {
  for (const { name, row, objects, size } of rows) {
    if (signal.aborted) return;
    // Another list is shown now.
    if (!row.isConnected && rows.some((other) => other.row.isConnected)) continue;
    try {
      /** @type {TotalsDocument} */
      const totals = await ask("/api/buckets/totals", { query: { bucket: name }, signal });
      objects.textContent = number(totals.objects);
      size.textContent = bytes(totals.bytes + totals.noncurrentBytes);
    } catch (error) {
      if (isAbort(error)) return;
      objects.textContent = size.textContent = "unknown";
    }
  }
}
