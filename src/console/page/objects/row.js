// A row or tile of the object list: a folder or an object.
import { address } from "../client/api.js";
import { pageHref } from "../client/router.js";
import { h, icon } from "../elements/dom.js";
import { bytes, time } from "../elements/format.js";
import { icons } from "../elements/icons.js";
import { menuButton } from "../elements/menu.js";
import { entryIcon } from "./kinds.js";
import { lockBadge } from "./locks.js";

/** @import { ObjectRow } from "../../wire-types.ts" */
/** @import { MenuItem } from "../elements/menu.js" */
/** @import { Entry } from "./listing.js" */

/**
 * @typedef {object} RowOptions
 * @property {string} bucket
 * @property {string} prefix common prefix of all names, which is not shown
 * @property {boolean} isSelected
 * @property {(range: boolean) => void} onToggle
 * @property {() => void} onRestore restores a deleted object
 * @property {boolean} isDeletedShown whether the list shows deleted objects
 * @property {boolean} canEdit whether the user can restore objects
 * @property {boolean} canSelect
 * @property {number | undefined} at time of the listing, if it is history
 * @property {(MenuItem | "line" | undefined | false)[]} menu
 */

/**
 * @param {Entry} entry
 * @param {RowOptions} options
 */
export function objectRow(entry, options) {
  const { shown, box, link, menu, restore } = parts(entry, options);
  const [size, storageClass, written] = cellTexts(entry);
  return h(
    "div",
    { class: "list-row", role: "row", "aria-selected": String(options.isSelected) },
    h("div", { role: "gridcell", class: "cell-box" }, box),
    h(
      "div",
      { role: "gridcell", class: "deleted" in entry ? "cell-name deleted" : "cell-name" },
      "row" in entry && isSmallImage(entry.row)
        ? thumbnail(options.bucket, entry.row, options.at)
        : icon(icons[entryIcon(entry)]),
      link,
      "row" in entry ? lockBadge(entry.row.lock) : undefined,
      restore,
    ),
    h("div", { role: "gridcell", class: "cell-size number" }, size),
    h("div", { role: "gridcell", class: "cell-class" }, storageClass),
    h("div", { role: "gridcell", class: "cell-time" }, written),
    h("div", { role: "gridcell", class: "cell-menu" }, menu ?? h("span", { class: "unseen" }, shown)),
  );
}

/**
 * @param {Entry} entry
 * @param {RowOptions} options
 */
export function objectTile(entry, options) {
  const { box, link, menu, restore } = parts(entry, options);
  const [size, , written] = cellTexts(entry);
  const picture =
    "row" in entry && isSmallImage(entry.row)
      ? thumbnail(options.bucket, entry.row, options.at)
      : icon(icons[entryIcon(entry)]);
  return h(
    "div",
    { class: "tile", role: "row", "aria-selected": String(options.isSelected) },
    h("div", { role: "gridcell", class: "tile-box" }, box),
    h("div", { role: "gridcell", class: "tile-menu" }, menu),
    h("div", { role: "gridcell", class: "tile-picture" }, picture),
    h("div", { role: "gridcell", class: "cell-name" }, link, restore),
    h(
      "div",
      { role: "gridcell", class: "quiet small-text" },
      entry.folder ? "Folder" : `${size} · ${written.slice(0, 10)}`,
    ),
  );
}

/**
 * @param {Entry} entry
 * @param {RowOptions} options
 */
function parts(entry, { bucket, prefix, isSelected, onToggle, onRestore, at, isDeletedShown, ...more }) {
  const { name } = entry;
  const shown = name.slice(prefix.length) || name;
  const box = h("input", {
    type: "checkbox",
    tabindex: -1,
    "aria-label": `Select ${shown}`,
    hidden: !more.canSelect,
    /** @param {MouseEvent} event */
    onclick: (event) => onToggle(event.shiftKey),
  });
  box.checked = isSelected;
  const link = h(
    "a",
    { href: entryHref(bucket, entry, { at, isDeleted: isDeletedShown }), tabindex: -1, title: name },
    h("bdi", {}, maskControls(shown)),
  );
  const restore =
    "deleted" in entry && more.canEdit
      ? h(
          "button",
          {
            class: "small",
            type: "button",
            tabindex: -1,
            "aria-label": `Restore ${shown}`,
            onclick: onRestore,
          },
          "Restore",
        )
      : undefined;
  const menu =
    more.menu.length === 0 ? undefined : menuButton({ label: `Actions for ${shown}`, items: more.menu });
  menu?.setAttribute("tabindex", "-1");
  return { shown, box, link, menu, restore };
}

/** Larger images are not loaded for a thumbnail. */
const maxThumbnailBytes = 2 * 1024 * 1024;
const maxThumbnails = 300;
/** Loaded images, so that scrolling does not load them again. @type {Map<string, HTMLImageElement>} */
const thumbnails = new Map();

/** @param {ObjectRow} row */
function isSmallImage({ preview, size }) {
  return preview === "image" && size > 0 && size <= maxThumbnailBytes;
}

/**
 * @param {string} bucket
 * @param {ObjectRow} row
 * @param {number | undefined} at
 */
function thumbnail(bucket, { key, etag }, at) {
  const src = address("/api/content", {
    bucket,
    key,
    etag: at === undefined ? etag : undefined,
    at,
    as: "preview",
  });
  const image =
    thumbnails.get(src) ?? h("img", { class: "thumbnail", src, alt: "", loading: "lazy", decoding: "async" });
  thumbnails.delete(src);
  thumbnails.set(src, image);
  const oldest = thumbnails.size > maxThumbnails ? thumbnails.keys().next().value : undefined;
  if (oldest !== undefined) thumbnails.delete(oldest);
  return image;
}

/** @param {Entry} entry */
function cellTexts(entry) {
  if (entry.folder) return /** @type {const} */ (["", "", ""]);
  if ("deleted" in entry) return /** @type {const} */ (["Deleted", "", time(entry.deleted)]);
  const { size, storageClass, uploaded } = entry.row;
  return /** @type {const} */ ([bytes(size), storageClass, time(uploaded)]);
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
