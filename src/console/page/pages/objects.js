// Page of a bucket's objects, by folder or flat: search by prefix, delete many, upload; also those
// that are deleted, and those of an earlier time.
import { may } from "../client/permissions.js";
import { go, pageHref } from "../client/router.js";
import { h, icon } from "../elements/dom.js";
import { number } from "../elements/format.js";
import { icons } from "../elements/icons.js";
import { empty, isAbort, noteFailure } from "../elements/notices.js";
import { virtualList } from "../elements/virtual-list.js";
import { addShortcuts } from "../frame/shortcuts.js";
import { breadcrumbs } from "../objects/breadcrumbs.js";
import { openDeletion } from "../objects/deletion.js";
import { historyNotice, historyTools, parseAt } from "../objects/history-tools.js";
import { createListing } from "../objects/listing.js";
import { restoreDeleted } from "../objects/restoring.js";
import { entryHref, maskControls, objectRow } from "../objects/row.js";
import { acceptDrops, uploadButtons } from "../upload/file-inputs.js";
import { onStored } from "../upload/queue.js";
import { unfinishedNotice } from "../upload/unfinished.js";

/** @import { Entry } from "../objects/listing.js" */
/** @import { View } from "../frame/pages.js" */

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
  const at = parseAt(params);
  const canEdit = may("edit", bucket) && at === undefined;
  const isDeleted = at === undefined && params.get("deleted") === "1";
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
      const entry = /** @type {Entry} */ (listing.entries[index]);
      const isSelected = listing.selected.has(entry.name);
      /** @param {boolean} range */
      const onToggle = (range) => toggle(index, range);
      const onRestore = () => void restore([entry]);
      const history = { at, isDeletedShown: isDeleted, canEdit };
      return objectRow(entry, { bucket, prefix: folder, isSelected, onToggle, onRestore, ...history });
    },
    onOpen(index) {
      const entry = listing.entries[index];
      if (entry !== undefined) location.hash = entryHref(bucket, entry, { at, isDeleted });
    },
    onToggle: toggle,
    onToggleAll() {
      if (canEdit) listing.toggleAll();
      updateStatus();
    },
    onNearEnd: () => void more(),
  });

  /**
   * @param {number} index
   * @param {boolean} range
   */
  function toggle(index, range) {
    if (!canEdit) return;
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
            isDeleted
              ? h("button", { type: "button", onclick: restoreSelected }, icon(icons.retry), "Restore")
              : h("button", { type: "button", onclick: deleteSelected }, icon(icons.remove), "Delete"),
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
    const { selected, versioning } = listing;
    if (selected.size === 0 || isDeleted) return;
    openDeletion({ bucket, entries: [...selected.values()], versioning, done: refresh });
  }

  const restoreSelected = () => void restore([...listing.selected.values()]);

  /** @param {readonly Entry[]} entries */
  async function restore(entries) {
    await restoreDeleted(bucket, entries);
    await refresh().catch(noteFailure);
  }

  async function more() {
    try {
      if (!(await listing.more())) return;
      list.setCount(listing.entries.length, "same");
      updateEmptyArea();
      updateStatus();
    } catch (error) {
      if (!isAbort(error)) noteFailure(error);
    }
  }

  async function refresh() {
    await listing.begin({ bucket, prefix: folder + search.value, view, isDeleted, ...(at && { at }) });
    lastToggled = 0;
    list.setCount(listing.entries.length, "other");
    tools.hidden = listing.versioning === "off";
    updateEmptyArea();
    updateStatus();
  }

  function updateEmptyArea() {
    // A page of deleted objects can be empty although others follow.
    const isEmpty = listing.entries.length === 0 && !listing.hasMore;
    const state = isDeleted ? emptyDeletedState : at === undefined ? emptyState : emptyHistoryState;
    emptyArea.replaceChildren(...(isEmpty ? [state(bucket, folder + search.value)] : []));
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

  const historyParams = {
    at: at === undefined ? undefined : String(at),
    deleted: isDeleted ? "1" : undefined,
  };
  const routeParams = () => ({
    ...{ bucket, prefix: folder, view: view === "flat" ? "flat" : undefined },
    ...historyParams,
  });
  const tools = historyTools(routeParams());
  const target = { bucket, prefix: folder };
  const buttons = uploadButtons(target);
  const content = h(
    "div",
    { class: "objects" },
    h(
      "div",
      { class: "page-head" },
      breadcrumbs(bucket, folder, historyParams),
      ...(canEdit ? buttons.elements : []),
    ),
    canEdit ? unfinishedNotice(bucket) : undefined,
    at === undefined ? undefined : historyNotice(routeParams(), at),
    h(
      "div",
      { class: "list-tools" },
      h("div", { class: "search" }, icon(icons.search), search),
      viewSwitch(routeParams(), view),
      at === undefined ? tools : undefined,
      chosen,
      statusText,
    ),
    h(
      "div",
      { class: "card list-card" },
      listHead(isDeleted ? "Deleted" : "Uploaded"),
      list.element,
      emptyArea,
    ),
  );
  if (canEdit) acceptDrops(content, target, signal);
  onStored(signal, (stored) => {
    if (stored === bucket) refresh().catch((error) => isAbort(error) || noteFailure(error));
  });
  addShortcuts(signal, [
    { key: "/", does: "Search by prefix", run: () => search.focus() },
    ...(canEdit
      ? [
          { key: "u", does: "Upload files", run: buttons.pickFiles },
          { key: "f", does: "Upload a folder", run: buttons.pickFolder },
        ]
      : []),
    { key: "Enter", does: "Open" },
    ...(canEdit
      ? [
          { key: "ArrowDown", does: "Move in the list; with Shift, select" },
          { key: " ", does: "Select" },
          { key: "Delete", does: "Delete the selection", run: deleteSelected },
        ]
      : [{ key: "ArrowDown", does: "Move in the list" }]),
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

/** @param {string} timeTitle */
function listHead(timeTitle) {
  return h(
    "div",
    { class: "list-row list-head", "aria-hidden": "true" },
    h("div", { class: "cell-box" }),
    h("div", { class: "cell-name" }, "Name"),
    h("div", { class: "cell-size number" }, "Size"),
    h("div", { class: "cell-class" }, "Class"),
    h("div", { class: "cell-time" }, timeTitle),
  );
}

/**
 * @param {string} bucket
 * @param {string} prefix
 */
function emptyState(bucket, prefix) {
  const hint = may("edit", bucket) ? "Drop files or whole folders here, or use the buttons above." : "";
  return prefix === ""
    ? empty(`${bucket} is empty`, hint)
    : empty("No key starts with this prefix", h("span", { class: "mono" }, maskControls(prefix)));
}

function emptyDeletedState() {
  return empty("No deleted objects", "Nothing was deleted here, or it was restored.");
}

function emptyHistoryState() {
  return empty("No objects at this time", "Choose another time, or go back to now.");
}
