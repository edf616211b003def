// The loaded objects of a bucket. Pages are loaded on demand; the selection is stored by name.
import { ask } from "../client/api.js";

/** @import { DeletedObjectsDocument, DeletedRow, ObjectRow, ObjectsDocument, VersioningState } from "../../wire-types.ts" */

/**
 * @typedef {{ name: string, folder: true }
 *   | { name: string, folder: false, row: ObjectRow }
 *   | { name: string, folder: false, deleted: number }} Entry
 */

const pageEntries = 200;

/**
 * @typedef {object} ListingRequest
 * @property {string} bucket
 * @property {string} prefix
 * @property {"folders" | "flat"} view
 * @property {number} [at] list the objects as of this time
 * @property {boolean} [isDeleted] list the deleted objects
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
  /** @type {VersioningState} */
  let versioning = "off";
  let round = 0;

  /** @param {ListingRequest} request */
  async function load({ bucket, prefix, view, at, isDeleted }) {
    const ownRound = round;
    const delimiter = view === "folders" ? "/" : undefined;
    const query = { bucket, prefix, delimiter, cursor, limit: pageEntries, at };
    /** @type {ObjectsDocument | DeletedObjectsDocument} */
    const page = await ask(isDeleted === true ? "/api/objects/deleted" : "/api/objects", { query, signal });
    // Ignore the response: another listing was requested in the meantime.
    if (ownRound !== round) return;
    entries.push(
      ...page.prefixes.map((name) => ({ name, folder: /** @type {const} */ (true) })),
      ...page.objects.map(toEntry),
    );
    cursor = page.cursor;
    versioning = page.versioning;
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
    get versioning() {
      return versioning;
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

/**
 * @param {ObjectRow | DeletedRow} row
 * @returns {Entry}
 */
function toEntry(row) {
  if ("deleted" in row) return { name: row.key, folder: false, deleted: row.deleted };
  return { name: row.key, folder: false, row };
}
