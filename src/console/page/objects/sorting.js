// Order of the object list. The store lists by name; other orders need all entries, which are loaded
// up to a limit.

/** @import { Entry } from "./listing.js" */

/** @typedef {"name" | "size" | "date"} SortBy */
/** @typedef {{ by: SortBy, isDescending: boolean }} Order */

/** Entries that are loaded to be sorted. */
export const maxSorted = 10_000;

/**
 * Parses `size` or `-size`.
 *
 * @param {string | null} text
 * @returns {Order}
 */
export function parseOrder(text) {
  const [, minus, by] = /^(-?)(name|size|date)$/.exec(text ?? "") ?? [];
  return { by: /** @type {SortBy} */ (by ?? "name"), isDescending: minus === "-" };
}

/** @param {Order} order */
export function formatOrder({ by, isDescending }) {
  return by === "name" && !isDescending ? undefined : `${isDescending ? "-" : ""}${by}`;
}

/** @param {Order} order */
export function isStoreOrder(order) {
  return formatOrder(order) === undefined;
}

/**
 * Folders come first, by name.
 *
 * @param {readonly Entry[]} entries in the order of the store
 * @param {Order} order
 */
export function sorted(entries, { by, isDescending }) {
  const folders = entries.filter(({ folder }) => folder);
  const objects = entries.filter(({ folder }) => !folder);
  const sign = isDescending ? -1 : 1;
  if (by === "name") {
    if (isDescending) {
      folders.reverse();
      objects.reverse();
    }
  } else objects.sort((a, b) => sign * (value(a, by) - value(b, by)));
  return [...folders, ...objects];
}

/**
 * @param {Entry} entry
 * @param {SortBy} by
 */
function value(entry, by) {
  if (entry.folder) return 0;
  if ("deleted" in entry) return entry.deleted;
  return by === "size" ? entry.row.size : entry.row.uploaded;
}
