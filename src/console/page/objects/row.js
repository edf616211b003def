// A row of the object list: a folder or an object.
import { h, icon } from "../dom.js";
import { bytes, time } from "../format.js";
import { icons } from "../icons.js";
import { pageHref } from "../router.js";

/** @import { Entry } from "./listing.js" */

/**
 * @typedef {object} RowOptions
 * @property {string} bucket
 * @property {string} prefix common prefix of all names, which is not shown
 * @property {boolean} isSelected
 * @property {(range: boolean) => void} onToggle
 */

/**
 * @param {Entry} entry
 * @param {RowOptions} options
 */
export function objectRow(entry, { bucket, prefix, isSelected, onToggle }) {
  const { name } = entry;
  const shown = name.slice(prefix.length) || name;
  const box = h("input", {
    type: "checkbox",
    tabindex: -1,
    "aria-label": `Select ${shown}`,
    /** @param {MouseEvent} event */
    onclick: (event) => onToggle(event.shiftKey),
  });
  box.checked = isSelected;
  const link = h(
    "a",
    { href: entryHref(bucket, entry), tabindex: -1, title: name },
    h("bdi", {}, maskControls(shown)),
  );
  const [size, storageClass, uploaded] = entry.folder
    ? ["", "", ""]
    : [bytes(entry.row.size), entry.row.storageClass, time(entry.row.uploaded)];
  return h(
    "div",
    { class: "list-row", role: "row", "aria-selected": String(isSelected) },
    h("div", { role: "gridcell", class: "cell-box" }, box),
    h(
      "div",
      { role: "gridcell", class: "cell-name" },
      icon(entry.folder ? icons.folder : icons.object),
      link,
    ),
    h("div", { role: "gridcell", class: "cell-size number" }, size),
    h("div", { role: "gridcell", class: "cell-class" }, storageClass),
    h("div", { role: "gridcell", class: "cell-time" }, uploaded),
  );
}

/**
 * @param {string} bucket
 * @param {Entry} entry
 */
export function entryHref(bucket, entry) {
  return entry.folder
    ? pageHref("objects", { bucket, prefix: entry.name })
    : pageHref("object", { bucket, key: entry.name });
}

/**
 * Replaces control and text-direction characters, so that a name cannot look like a different name.
 *
 * @param {string} text
 */
export function maskControls(text) {
  return text.replaceAll(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "\ufffd") || "(no name)";
}
