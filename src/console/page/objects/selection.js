// Selection in a list of entries, kept by name, so that it survives sorting and loading.

/** @import { Entry } from "./listing.js" */

/**
 * @param {Map<string, Entry>} selected
 * @param {() => readonly Entry[]} shown
 */
export function createSelection(selected, shown) {
  let last = 0;
  return {
    /**
     * @param {number} index
     * @param {boolean} range from the last toggled entry
     */
    toggle(index, range) {
      const entry = shown()[index];
      if (entry === undefined) return;
      if (range) {
        for (const one of shown().slice(Math.min(last, index), Math.max(last, index) + 1))
          selected.set(one.name, one);
      } else if (selected.has(entry.name)) selected.delete(entry.name);
      else selected.set(entry.name, entry);
      last = index;
    },
    /** Selects all shown entries, or clears the selection if all were selected. */
    toggleAll() {
      const all = shown();
      const isAll = all.length > 0 && all.every(({ name }) => selected.has(name));
      selected.clear();
      if (!isAll) for (const entry of all) selected.set(entry.name, entry);
    },
    /** @returns {"none" | "some" | "all"} */
    state() {
      if (selected.size === 0) return "none";
      return shown().every(({ name }) => selected.has(name)) ? "all" : "some";
    },
    reset() {
      last = 0;
    },
  };
}
