// A row of the object list: a folder or an object.
import { pageHref } from "../client/router.js";
import { h, icon } from "../elements/dom.js";
import { bytes, time } from "../elements/format.js";
import { icons } from "../elements/icons.js";
import { lockBadge } from "./lock-badge.js";

/** @import { Entry } from "./listing.js" */

/**
 * @typedef {object} RowOptions
 * @property {string} bucket
 * @property {string} prefix common prefix of all names, which is not shown
 * @property {boolean} isSelected
 * @property {(range: boolean) => void} onToggle
 * @property {() => void} onRestore restores a deleted object
 * @property {boolean} isDeletedShown whether the list shows deleted objects
 * @property {boolean} canEdit whether the user can select rows and restore objects
 * @property {number | undefined} at time of the listing, if it is history
 */

/**
 * @param {Entry} entry
 * @param {RowOptions} options
 */
export function objectRow(entry, options) {
  const { bucket, prefix, isSelected, onToggle, onRestore, at, isDeletedShown, canEdit } = options;
  const { name } = entry;
  const shown = name.slice(prefix.length) || name;
  const box = h("input", {
    type: "checkbox",
    tabindex: -1,
    "aria-label": `Select ${shown}`,
    hidden: !canEdit,
    /** @param {MouseEvent} event */
    onclick: (event) => onToggle(event.shiftKey),
  });
  box.checked = isSelected;
  const link = h(
    "a",
    { href: entryHref(bucket, entry, { at, isDeleted: isDeletedShown }), tabindex: -1, title: name },
    h("bdi", {}, maskControls(shown)),
  );
  const isDeleted = "deleted" in entry;
  const [size, storageClass, written] = cellTexts(entry);
  return h(
    "div",
    { class: "list-row", role: "row", "aria-selected": String(isSelected) },
    h("div", { role: "gridcell", class: "cell-box" }, box),
    h(
      "div",
      { role: "gridcell", class: isDeleted ? "cell-name deleted" : "cell-name" },
      icon(entry.folder ? icons.folder : icons.object),
      link,
      "row" in entry ? lockBadge(entry.row.lock) : undefined,
      isDeleted && canEdit
        ? h(
            "button",
            { type: "button", tabindex: -1, "aria-label": `Restore ${shown}`, onclick: onRestore },
            "Restore",
          )
        : undefined,
    ),
    h("div", { role: "gridcell", class: "cell-size number" }, size),
    h("div", { role: "gridcell", class: "cell-class" }, storageClass),
    h("div", { role: "gridcell", class: "cell-time" }, written),
  );
}

/** @param {Entry} entry */
function cellTexts(entry) {
  if (entry.folder) return ["", "", ""];
  if ("deleted" in entry) return ["Deleted", "", time(entry.deleted)];
  const { size, storageClass, uploaded } = entry.row;
  return [bytes(size), storageClass, time(uploaded)];
}

/**
 * @param {string} bucket
 * @param {Entry} entry
 * @param {{ at?: number | undefined, isDeleted?: boolean }} history
 */
export function entryHref(bucket, entry, { at, isDeleted }) {
  const history = { at: at === undefined ? undefined : String(at) };
  const deleted = isDeleted === true ? "1" : undefined;
  return entry.folder
    ? pageHref("objects", { bucket, prefix: entry.name, ...history, deleted })
    : pageHref("object", { bucket, key: entry.name, ...history });
}

/**
 * Replaces control and text-direction characters, so that a name cannot look like a different name.
 *
 * @param {string} text
 */
export function maskControls(text) {
  return text.replaceAll(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "\ufffd") || "(no name)";
}
