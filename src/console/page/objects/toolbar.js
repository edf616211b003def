// Toolbar and column heads of the object list: search, view, type, order, layout and the selection.
import { go } from "../client/router.js";
import { h, icon } from "../elements/dom.js";
import { counted, number } from "../elements/format.js";
import { icons } from "../elements/icons.js";
import { menuButton } from "../elements/menu.js";
import { types } from "./kinds.js";
import { formatOrder, maxSorted, parseOrder } from "./sorting.js";

/** @import { EntryActions } from "./entry-actions.js" */
/** @import { createListing, Entry } from "./listing.js" */
/** @import { SortBy } from "./sorting.js" */

/**
 * @typedef {object} ToolbarOptions
 * @property {URLSearchParams} params
 * @property {"folders" | "flat"} view
 * @property {boolean} isHistory
 * @property {boolean} canEdit
 * @property {EntryActions} actions
 * @property {() => Record<string, string | undefined>} routeParams
 * @property {(params: Record<string, string | undefined>) => void} changed loads the list again
 * @property {() => void} redraw
 * @property {() => void} stop ends a search
 * @property {() => void} toggleAll
 * @property {() => void} clear
 * @property {() => void} deleteSelected
 * @property {() => void} restoreSelected
 */

/** @typedef {{ listing: ReturnType<typeof createListing>, shown: readonly Entry[], selection: "none" | "some" | "all" }} ListState */

const layoutKey = "store console layout";
const pauseMilliseconds = 200;

/** @param {ToolbarOptions} options */
export function createToolbar(options) {
  const { params, view, isHistory, canEdit, actions, routeParams, changed } = options;
  const isDeleted = params.get("deleted") === "1";
  let order = parseOrder(params.get("sort"));
  /** @type {"rows" | "tiles"} */
  let layout = localStorage.getItem(layoutKey) === "tiles" ? "tiles" : "rows";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const search = h("input", {
    type: "search",
    ...(isDeleted
      ? { "aria-label": "Search by prefix", placeholder: "Search by prefix" }
      : { "aria-label": "Search by any part of the key", placeholder: "Search any part of a key" }),
    ...{ autocomplete: "off", spellcheck: "false", value: params.get("search") ?? "" },
    oninput() {
      clearTimeout(timer);
      timer = setTimeout(apply, pauseMilliseconds);
    },
  });
  const type = h(
    "select",
    { "aria-label": "Type", class: "type-select", onchange: () => options.redraw() },
    ...types.map(([value, label]) => h("option", { value }, label)),
  );
  const statusText = h("span", { class: "quiet small-text", role: "status" });
  const stop = h("button", { class: "small", type: "button", hidden: true, onclick: options.stop }, "Stop");
  const chosen = h("div", { class: "chosen" });
  const all = h("input", { type: "checkbox", "aria-label": "Select all", onclick: options.toggleAll });
  all.hidden = params.has("at") || (isDeleted && !canEdit);

  function apply() {
    changed({ search: search.value.trim(), sort: formatOrder(order) });
  }

  /** @param {SortBy} by */
  function sortBy(by) {
    order = { by, isDescending: order.by === by ? !order.isDescending : by !== "name" };
    updateHeads();
    apply();
  }

  const heads = [
    sortHead("name", "Name"),
    sortHead("size", "Size"),
    sortHead("date", isDeleted ? "Deleted" : "Modified"),
  ];
  const [nameHead, sizeHead, dateHead] = heads;

  /**
   * @param {SortBy} by
   * @param {string} label
   */
  function sortHead(by, label) {
    return h(
      "button",
      { class: "bare sort", type: "button", "data-by": by, onclick: () => sortBy(by) },
      label,
    );
  }

  function updateHeads() {
    for (const head of heads) {
      const isHere = head.dataset.by === order.by;
      head.querySelector(".icon")?.remove();
      if (isHere) head.append(icon(order.isDescending ? icons.chevron : icons.up));
      const label = head.textContent ?? "";
      const state = isHere ? (order.isDescending ? ", sorted descending" : ", sorted ascending") : "";
      head.setAttribute("aria-label", `Sort by ${label.toLowerCase()}${state}`);
    }
  }
  updateHeads();

  const layoutButton = h("button", { class: "tool", type: "button", onclick: () => switchLayout() });
  function updateLayout() {
    const label = layout === "rows" ? "Show as tiles" : "Show as list";
    layoutButton.setAttribute("aria-label", label);
    layoutButton.title = label;
    layoutButton.replaceChildren(icon(layout === "rows" ? icons.tiles : icons.list));
    head.classList.toggle("for-tiles", layout === "tiles");
  }
  function switchLayout() {
    layout = layout === "rows" ? "tiles" : "rows";
    localStorage.setItem(layoutKey, layout);
    updateLayout();
    options.redraw();
  }

  const head = h(
    "div",
    { class: "list-row list-head", role: "group", "aria-label": "Order and selection" },
    h("div", { class: "cell-box" }, all),
    h("div", { class: "cell-name" }, nameHead),
    h("div", { class: "cell-size number" }, sizeHead),
    h("div", { class: "cell-class" }, "Class"),
    h("div", { class: "cell-time" }, dateHead),
    h("div", { class: "cell-menu" }),
  );
  updateLayout();

  const viewSelect = h(
    "select",
    {
      ...{ "aria-label": "View", class: "type-select" },
      onchange: () =>
        go("objects", { ...routeParams(), view: viewSelect.value === "flat" ? "flat" : undefined }),
    },
    h("option", { value: "folders" }, "Folders"),
    h("option", { value: "flat" }, "All keys"),
  );
  viewSelect.value = view;

  /** @param {ListState} state */
  function update({ listing, shown, selection }) {
    all.checked = selection === "all";
    all.indeterminate = selection === "some";
    const isSearch = search.value.trim() !== "" && !isDeleted;
    stop.hidden = !(isSearch && listing.isLoading);
    statusText.textContent = isSearch ? searchText(listing, shown) : countText(listing, shown);
    chosen.replaceChildren(
      ...(listing.selected.size === 0 ? [] : chosenTools([...listing.selected.values()])),
    );
  }

  /**
   * @param {ListState["listing"]} listing
   * @param {readonly Entry[]} shown
   */
  function countText({ entries, hasMore }, shown) {
    const isCut = formatOrder(order) !== undefined && hasMore && entries.length >= maxSorted;
    if (isCut) return `${number(shown.length)} shown; sorted among the first ${number(maxSorted)}`;
    return `${number(shown.length)}${hasMore ? "+" : ""} shown`;
  }

  /** @param {readonly Entry[]} entries */
  function chosenTools(entries) {
    const [only] = entries.length === 1 ? entries : [];
    const count = h("span", {}, `${number(entries.length)} selected`);
    const clear = h("button", { class: "bare", type: "button", onclick: options.clear }, "Clear");
    if (isDeleted)
      return [
        count,
        h("button", { type: "button", onclick: options.restoreSelected }, icon(icons.retry), "Restore"),
        clear,
      ];
    const download = () => void actions.download(entries);
    return [
      count,
      h("button", { type: "button", onclick: download }, icon(icons.download), "Download"),
      canEdit &&
        h(
          "button",
          { type: "button", onclick: () => void actions.move(entries) },
          icon(icons.move),
          "Move or copy",
        ),
      canEdit &&
        menuButton({
          label: "More actions for the selection",
          items: [
            only !== undefined && { label: "Rename…", icon: "edit", run: () => void actions.rename(only) },
            only !== undefined &&
              !only.folder && { label: "Share…", icon: "share", run: () => actions.share(only) },
            only !== undefined && "line",
            {
              label: `Delete ${counted(entries.length, "item")}…`,
              icon: "remove",
              danger: true,
              run: options.deleteSelected,
            },
          ],
        }),
      clear,
    ].filter((tool) => tool !== false);
  }

  const newFolder = h(
    "button",
    { type: "button", onclick: () => actions.newFolder() },
    icon(icons.add),
    "New folder",
  );
  const element = h(
    "div",
    { class: "list-tools" },
    h("div", { class: "search" }, icon(icons.search), search),
    viewSelect,
    isDeleted ? undefined : type,
    layoutButton,
    canEdit && !isHistory ? newFolder : undefined,
    h("div", { class: "list-status" }, statusText, stop),
    chosen,
  );
  return {
    ...{ element, head, update, switchLayout },
    order: () => order,
    layout: () => layout,
    text: () => search.value.trim(),
    type: () => type.value,
    focusSearch: () => search.focus(),
  };
}

/**
 * @param {ListState["listing"]} listing
 * @param {readonly Entry[]} shown
 */
function searchText({ scanned, hasMore, isLoading }, shown) {
  const found = `${counted(shown.length, "object")} found in ${counted(scanned, "key")}`;
  if (isLoading) return `${found}, searching…`;
  return hasMore ? `${found}; scroll down to search further` : found;
}
