// Tabs Objects, and Versions and deleted: the objects of a folder as list or tiles, a search by any
// part of the key, and actions on a selection; also deleted objects, and those of an earlier time.
import { may } from "../client/permissions.js";
import { pageHref } from "../client/router.js";
import { h } from "../elements/dom.js";
import { isAbort, noteFailure } from "../elements/notices.js";
import { virtualList } from "../elements/virtual-list.js";
import { addShortcuts } from "../frame/shortcuts.js";
import { breadcrumbs } from "../objects/breadcrumbs.js";
import { openDeletion } from "../objects/deletion.js";
import { emptyStates } from "../objects/empty-states.js";
import { entryActions } from "../objects/entry-actions.js";
import { historyBar, parseAt } from "../objects/history-tools.js";
import { hasType } from "../objects/kinds.js";
import { createListing } from "../objects/listing.js";
import { restoreDeleted } from "../objects/restoring.js";
import { entryHref, objectRow, objectTile } from "../objects/row.js";
import { createSelection } from "../objects/selection.js";
import { isStoreOrder, maxSorted, sorted } from "../objects/sorting.js";
import { createToolbar } from "../objects/toolbar.js";
import { acceptDrops, uploadButtons } from "../upload/file-inputs.js";
import { onStored } from "../upload/queue.js";
import { unfinishedNotice } from "../upload/unfinished.js";

/** @import { Entry } from "../objects/listing.js" */
/** @import { TabContent, TabView } from "../pages/bucket.js" */

/**
 * @param {TabView} view
 * @returns {Promise<TabContent>}
 */
export async function renderTab({ params, signal, bucket, details }) {
  const prefix = params.get("prefix") ?? "";
  /** @type {"folders" | "flat"} */
  const view = params.get("view") === "flat" ? "flat" : "folders";
  const at = parseAt(params);
  const isDeleted = at === undefined && params.get("deleted") === "1";
  const isHistory = isDeleted || at !== undefined;
  const canEdit = may("edit", bucket) && at === undefined;
  const listing = createListing(signal, () => show("same"));
  /** @type {readonly Entry[]} */
  let shown = [];
  const selection = createSelection(listing.selected, () => shown);
  const emptyArea = h("div", { class: "list-empty" });
  const refreshSafely = () => void refresh().catch((error) => isAbort(error) || noteFailure(error));
  const actions = entryActions({ bucket, prefix, canEdit, refresh: refreshSafely });
  const routeParams = () => ({
    ...{ bucket, prefix, view: view === "flat" ? "flat" : undefined },
    at: at === undefined ? undefined : String(at),
    deleted: isDeleted ? "1" : undefined,
  });
  const toolbar = createToolbar({
    ...{ params, view, isHistory, canEdit, routeParams, actions },
    changed: (/** @type {Record<string, string | undefined>} */ more) => {
      history.replaceState(null, "", pageHref("objects", { ...routeParams(), ...more }));
      refreshSafely();
    },
    redraw: () => show("same"),
    stop: () => {
      listing.stop();
      show("same");
    },
    toggleAll: () => {
      selection.toggleAll();
      update();
    },
    clear,
    deleteSelected,
    restoreSelected: () => void restore([...listing.selected.values()]),
  });
  const list = virtualList({
    label: `Objects of ${bucket}`,
    layout: toolbar.layout,
    drawRow(index) {
      const entry = /** @type {Entry} */ (shown[index]);
      const draw = toolbar.layout() === "tiles" ? objectTile : objectRow;
      return draw(entry, {
        ...{ bucket, prefix, at, canEdit, canSelect: at === undefined && (canEdit || !isDeleted) },
        isSelected: listing.selected.has(entry.name),
        isDeletedShown: isDeleted,
        onToggle: (range) => toggle(index, range),
        onRestore: () => void restore([entry]),
        menu: isHistory ? [] : actions.menu(entry, () => deleteEntries([entry])),
      });
    },
    onOpen(index) {
      const entry = shown[index];
      if (entry !== undefined) location.hash = entryHref(bucket, entry, { at, isDeleted });
    },
    onToggle: toggle,
    onToggleAll() {
      if (at === undefined) selection.toggleAll();
      update();
    },
    onNearEnd: () => void more(),
  });

  /**
   * @param {number} index
   * @param {boolean} range
   */
  function toggle(index, range) {
    if (at !== undefined || (isDeleted && !canEdit)) return;
    selection.toggle(index, range);
    update();
  }

  function clear() {
    listing.selected.clear();
    update();
    list.element.focus();
  }

  /** @param {readonly Entry[]} entries */
  function deleteEntries(entries) {
    if (entries.length === 0 || isDeleted || !canEdit) return;
    openDeletion({ bucket, entries, versioning: listing.versioning, done: refresh });
  }
  function deleteSelected() {
    deleteEntries([...listing.selected.values()]);
  }

  /** @param {readonly Entry[]} entries */
  async function restore(entries) {
    await restoreDeleted(bucket, entries);
    refreshSafely();
  }

  /** Shows the loaded entries. @param {"same" | "other"} content */
  function show(content) {
    const ordered = isStoreOrder(toolbar.order())
      ? listing.entries
      : sorted(listing.entries, toolbar.order());
    shown = ordered.filter((entry) => hasType(entry, toolbar.type()));
    // A page of deleted objects can be empty although others follow.
    const isEmpty = shown.length === 0 && !listing.hasMore && !listing.isLoading;
    const state = { bucket, prefix, text: toolbar.text(), isFiltered: toolbar.type() !== "all", details };
    emptyArea.replaceChildren(
      ...(isEmpty ? [emptyStates({ ...state, at, isDeleted, canEdit, pickFiles: buttons.pickFiles })] : []),
    );
    toolbar.update({ listing, shown, selection: selection.state() });
    list.setCount(shown.length, content);
  }

  function update() {
    toolbar.update({ listing, shown, selection: selection.state() });
    list.redraw();
  }

  async function more() {
    // A search continues by itself, up to its limit.
    try {
      if (await listing.more()) show("same");
    } catch (error) {
      if (!isAbort(error)) noteFailure(error);
    }
  }

  async function refresh() {
    const text = toolbar.text();
    const wanted = { bucket, view, isDeleted, ...(at !== undefined && { at }) };
    // Deleted objects are found by the beginning of their key only.
    const isSearch = text !== "" && !isDeleted;
    const loading = listing.begin({
      ...wanted,
      ...(isSearch ? { prefix, text } : { prefix: prefix + text }),
    });
    selection.reset();
    if (isSearch) show("other");
    await loading;
    if (!isStoreOrder(toolbar.order()))
      while (listing.hasMore && listing.entries.length < maxSorted) await listing.more();
    show("other");
  }

  const target = { bucket, prefix };
  const buttons = uploadButtons(target);
  const element = h(
    "div",
    { class: "browser" },
    canEdit && !isDeleted ? unfinishedNotice(bucket) : undefined,
    isHistory ? historyBar({ params: routeParams(), at, versioning: details.versioning }) : undefined,
    toolbar.element,
    h("div", { class: "card list-card" }, toolbar.head, list.element, emptyArea),
  );
  if (canEdit && !isDeleted) acceptDrops(element, target, signal);
  onStored(signal, (stored, row) => {
    if (stored !== bucket || isHistory) return;
    if (row === undefined) refreshIfIdle();
    else {
      listing.insert(row);
      show("same");
    }
  });

  /** The rows of uploads are already shown; a new listing would move the user's position. */
  function refreshIfIdle() {
    if (list.element.scrollTop === 0 && listing.selected.size === 0) refreshSafely();
  }

  const active = () => shown[list.active()];
  addShortcuts(signal, [
    { key: "/", does: "Search", run: () => toolbar.focusSearch() },
    ...(canEdit && !isDeleted
      ? [
          { key: "u", does: "Upload files", run: buttons.pickFiles },
          { key: "f", does: "Upload a folder", run: buttons.pickFolder },
          { key: "n", does: "New folder", run: actions.newFolder },
          { key: "F2", does: "Rename", run: () => void actions.rename(active()) },
          { key: "s", does: "Share the object", run: () => void actions.share(active()) },
        ]
      : []),
    { key: "g", does: "Switch between list and tiles", run: () => toolbar.switchLayout() },
    { key: "Enter", does: "Open" },
    {
      key: "ArrowDown",
      does: at === undefined ? "Move in the list; with Shift, select" : "Move in the list",
    },
    ...(at === undefined ? [{ key: " ", does: "Select" }] : []),
    ...(canEdit && !isDeleted
      ? [
          { key: "Shift F10", does: "Open the menu of the row" },
          { key: "Delete", does: "Delete the selection", run: deleteSelected },
        ]
      : []),
  ]);
  // A search is not awaited: its first hits are shown while it runs.
  if (toolbar.text() !== "" && !isDeleted) refreshSafely();
  else await refresh();
  const title = prefix === "" ? undefined : `${bucket}/${prefix}`;
  const { deleted } = routeParams();
  return {
    element,
    tools: canEdit && !isDeleted ? buttons.elements : [],
    heading: breadcrumbs(bucket, prefix, { at: routeParams().at, deleted }),
    ...(title !== undefined && { title }),
  };
}
