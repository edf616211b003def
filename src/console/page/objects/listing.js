// The loaded objects of a bucket. Pages are loaded on demand; the selection is stored by name.
import { ask } from "../api.js";

/** @import { ObjectRow, ObjectsDocument } from "../../wire-types.ts" */

/**
 * @typedef {{ name: string, folder: true }
 *   | { name: string, folder: false, row: ObjectRow }} Entry
 */

const pageEntries = 200;

/**
 * @typedef {object} ListingRequest
 * @property {string} bucket
 * @property {string} prefix
 * @property {"folders" | "flat"} view
 */

/** @param {AbortSignal} signal */
export function createListing(signal) {
  /** @type {Entry[]} */
  let entries = [];
  /** @type {Map<string, Entry>} */
  const selected = new Map();
  /** @type {string | undefined} */
  let cursor;
  /** @type {ListingRequest | undefined} */
  let request;
  /** @type {Promise<void> | undefined} */
  let loading;
  let round = 0;

  /** @param {ListingRequest} request */
  async function load({ bucket, prefix, view }) {
    const ownRound = round;
    const delimiter = view === "folders" ? "/" : undefined;
    /** @type {ObjectsDocument} */
    const page = await ask("/api/objects", {
      query: { bucket, prefix, delimiter, cursor, limit: pageEntries },
      signal,
    });
    // Ignore the response: another listing was requested in the meantime.
    if (ownRound !== round) return;
    entries.push(
      ...page.prefixes.map((name) => ({ name, folder: /** @type {const} */ (true) })),
      ...page.objects.map((row) => ({ name: row.key, folder: /** @type {const} */ (false), row })),
    );
    cursor = page.cursor;
  }

  return {
    /** @param {ListingRequest} next */
    async begin(next) {
      round++;
      request = next;
      const previous = entries;
      entries = [];
      cursor = undefined;
      selected.clear();
      loading = load(next).finally(() => {
        loading = undefined;
      });
      try {
        await loading;
      } catch (error) {
        entries = previous;
        throw error;
      }
    },
    /** Loads the next page, unless it is already loading. Returns whether entries were added. */
    async more() {
      if (cursor === undefined || loading !== undefined || request === undefined) return false;
      loading = load(request).finally(() => {
        loading = undefined;
      });
      await loading;
      return true;
    },
    get entries() {
      return entries;
    },
    get hasMore() {
      return cursor !== undefined;
    },
    selected,
    /** @param {number} index */
    toggle(index) {
      const entry = entries[index];
      if (entry === undefined) return;
      if (selected.has(entry.name)) selected.delete(entry.name);
      else selected.set(entry.name, entry);
    },
    /**
     * @param {number} from
     * @param {number} to
     */
    selectRange(from, to) {
      for (const entry of entries.slice(Math.min(from, to), Math.max(from, to) + 1)) {
        selected.set(entry.name, entry);
      }
    },
    /** Selects all loaded entries, or clears the selection if all were selected. */
    toggleAll() {
      const isAll = entries.length > 0 && entries.every(({ name }) => selected.has(name));
      selected.clear();
      if (!isAll) for (const entry of entries) selected.set(entry.name, entry);
    },
  };
}
