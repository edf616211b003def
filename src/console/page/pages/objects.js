// Page of a bucket's objects, by folder or flat: search by prefix, delete many, upload.
import { h, icon } from "../dom.js";
import { number } from "../format.js";
import { icons } from "../icons.js";
import { empty, isAbort, noteFailure } from "../notices.js";
import { breadcrumbs } from "../objects/breadcrumbs.js";
import { openDeletion } from "../objects/deletion.js";
import { createListing } from "../objects/listing.js";
import { entryHref, maskControls, objectRow } from "../objects/row.js";
import { go, pageHref } from "../router.js";
import { addShortcuts } from "../shortcuts.js";
import { acceptDrops, uploadButtons } from "../upload/file-inputs.js";
import { onStored } from "../upload/queue.js";
import { unfinishedNotice } from "../upload/unfinished.js";
import { virtualList } from "../virtual-list.js";

/** @import { View } from "../pages.js" */

/** @param {View} view */
export async function render({ params, signal, setTitle }) {
  const bucket = params.get("bucket") ?? "";
  if (bucket === "") {
    go("buckets");
    return h("div", {});
  }
  const folder = params.get("prefix") ?? "";
  setTitle(folder === "" ? bucket : `${bucket}/${folder}`);
  /** @type {"folders" | "flat"} */
  const view = params.get("view") === "flat" ? "flat" : "folders";
  const listing = createListing(signal);
  let lastToggled = 0;

  const search = h("input", {
    type: "search",
    "aria-label": "Search by prefix",
    placeholder: "Search by prefix",
    autocomplete: "off",
    spellcheck: "false",
    value: params.get("search") ?? "",
    oninput: () => searchSoon(),
  });
  const statusText = h("span", { class: "quiet", role: "status" });
  const chosen = h("div", { class: "chosen" });
  const emptyArea = h("div", { class: "list-empty" });
  const list = virtualList({
    label: `Objects of ${bucket}`,
    drawRow(index) {
      const entry = /** @type {import("../objects/listing.js").Entry} */ (listing.entries[index]);
      const isSelected = listing.selected.has(entry.name);
      /** @param {boolean} range */
      const onToggle = (range) => toggle(index, range);
      return objectRow(entry, { bucket, prefix: folder, isSelected, onToggle });
    },
    onOpen(index) {
      const entry = listing.entries[index];
      if (entry !== undefined) location.hash = entryHref(bucket, entry);
    },
    onToggle: toggle,
    onToggleAll() {
      listing.toggleAll();
      updateStatus();
    },
    onNearEnd: () => void more(),
  });

  /**
   * @param {number} index
   * @param {boolean} range
   */
  function toggle(index, range) {
    if (range) listing.selectRange(lastToggled, index);
    else listing.toggle(index);
    lastToggled = index;
    updateStatus();
  }

  function updateStatus() {
    list.redraw();
    const { entries, hasMore, selected } = listing;
    statusText.textContent = `${number(entries.length)}${hasMore ? "+" : ""} shown`;
    chosen.replaceChildren(
      ...(selected.size === 0
        ? []
        : [
            h("span", {}, `${number(selected.size)} selected`),
            h("button", { type: "button", onclick: deleteSelected }, icon(icons.remove), "Delete"),
            h("button", { type: "button", onclick: clear }, "Clear"),
          ]),
    );
  }

  function clear() {
    listing.selected.clear();
    updateStatus();
    list.element.focus();
  }

  function deleteSelected() {
    if (listing.selected.size > 0) openDeletion(bucket, [...listing.selected.values()], refresh);
  }

  async function more() {
    try {
      if (!(await listing.more())) return;
      list.setCount(listing.entries.length, "same");
      updateStatus();
    } catch (error) {
      if (!isAbort(error)) noteFailure(error);
    }
  }

  async function refresh() {
    const prefix = folder + search.value;
    await listing.begin({ bucket, prefix, view });
    lastToggled = 0;
    list.setCount(listing.entries.length, "other");
    const isEmpty = listing.entries.length === 0;
    emptyArea.replaceChildren(...(isEmpty ? [emptyState(bucket, prefix)] : []));
    updateStatus();
  }

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let searchTimer;
  function searchSoon() {
    clearTimeout(searchTimer);
    searchTimer = setTimeout(() => {
      history.replaceState(null, "", pageHref("objects", { ...routeParams(), search: search.value }));
      refresh().catch((error) => isAbort(error) || noteFailure(error));
    }, 150);
  }

  const routeParams = () => ({ bucket, prefix: folder, view: view === "flat" ? "flat" : undefined });
  const target = { bucket, prefix: folder };
  const buttons = uploadButtons(target);
  const content = h(
    "div",
    { class: "objects" },
    h("div", { class: "page-head" }, breadcrumbs(bucket, folder), ...buttons.elements),
    unfinishedNotice(bucket),
    h(
      "div",
      { class: "list-tools" },
      h("div", { class: "search" }, icon(icons.search), search),
      viewSwitch(routeParams(), view),
      chosen,
      statusText,
    ),
    h("div", { class: "card list-card" }, listHead(), list.element, emptyArea),
  );
  acceptDrops(content, target, signal);
  onStored(signal, (stored) => {
    if (stored === bucket) refresh().catch((error) => isAbort(error) || noteFailure(error));
  });
  addShortcuts(signal, [
    { key: "/", does: "Search by prefix", run: () => search.focus() },
    { key: "u", does: "Upload files", run: buttons.pickFiles },
    { key: "f", does: "Upload a folder", run: buttons.pickFolder },
    { key: "ArrowDown", does: "Move in the list; with Shift, select" },
    { key: " ", does: "Select" },
    { key: "Enter", does: "Open" },
    { key: "Delete", does: "Delete the selection", run: deleteSelected },
  ]);
  await refresh();
  return content;
}

/**
 * @param {Record<string, string | undefined>} routeParams
 * @param {"folders" | "flat"} view
 */
function viewSwitch(routeParams, view) {
  /**
   * @param {string} title
   * @param {"folders" | "flat"} one
   */
  const link = (title, one) =>
    h(
      "a",
      {
        class: "button",
        href: pageHref("objects", { ...routeParams, view: one === "flat" ? "flat" : undefined }),
        "aria-current": one === view ? "true" : undefined,
      },
      title,
    );
  return h(
    "div",
    { class: "switch", role: "group", "aria-label": "View" },
    link("Folders", "folders"),
    link("Flat", "flat"),
  );
}

function listHead() {
  return h(
    "div",
    { class: "list-row list-head", "aria-hidden": "true" },
    h("div", { class: "cell-box" }),
    h("div", { class: "cell-name" }, "Name"),
    h("div", { class: "cell-size number" }, "Size"),
    h("div", { class: "cell-class" }, "Class"),
    h("div", { class: "cell-time" }, "Uploaded"),
  );
}

/**
 * @param {string} bucket
 * @param {string} prefix
 */
function emptyState(bucket, prefix) {
  return prefix === ""
    ? empty(`${bucket} is empty`, "Drop files or whole folders here, or use the buttons above.")
    : empty("No key starts with this prefix", h("span", { class: "mono" }, maskControls(prefix)));
}
