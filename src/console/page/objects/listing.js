// The loaded objects of a bucket. Pages are loaded on demand; the selection is stored by name.
import { ask } from "../client/api.js";

/** @import { SearchDocument } from "../../wire-bucket.ts" */
/** @import { DeletedObjectsDocument, DeletedRow, ObjectRow, ObjectsDocument, VersioningState } from "../../wire-types.ts" */

/**
 * @typedef {{ name: string, folder: true }
 *   | { name: string, folder: false, row: ObjectRow }
 *   | { name: string, folder: false, deleted: number }} Entry
 */

const pageEntries = 200;
/** Hits after which a search stops until the user asks for more. */
const maxHits = 1000;

/**
 * @typedef {object} ListingRequest
 * @property {string} bucket
 * @property {string} prefix
 * @property {"folders" | "flat"} view
 * @property {number} [at] list the objects as of this time
 * @property {boolean} [isDeleted] list the deleted objects
 * @property {string} [text] list the objects with this text in any part of their key
 */

/**
 * @param {AbortSignal} signal
 * @param {() => void} onProgress called while a search runs
 */
export function createListing(signal, onProgress) {
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
  let scanned = 0;
  let round = 0;

  /** @param {ListingRequest} request */
  async function load({ bucket, prefix, view, at, isDeleted, text }) {
    if (text !== undefined) return search({ bucket, prefix, at, text });
    const ownRound = round;
    const delimiter = view === "folders" ? "/" : undefined;
    const query = { bucket, prefix, delimiter, cursor, limit: pageEntries, at };
    /** @type {ObjectsDocument | DeletedObjectsDocument} */
    const page = await ask(isDeleted === true ? "/api/objects/deleted" : "/api/objects", { query, signal });
    // Ignore the response: another listing was requested in the meantime.
    if (ownRound !== round) return;
    // An object with the name of the folder only makes the folder exist.
    const objects = [...page.objects].filter(({ key }) => delimiter === undefined || key !== prefix);
    entries.push(...page.prefixes.map(toFolder), ...objects.map(toEntry));
    cursor = page.cursor;
    versioning = page.versioning;
  }

  /** @param {{ bucket: string, prefix: string, at: number | undefined, text: string }} wanted */
  async function search(wanted) {
    const ownRound = round;
    const enough = entries.length + maxHits;
    do {
      const query = { ...wanted, cursor };
      /** @type {SearchDocument} */
      const page = await ask("/api/objects/search", { query, signal });
      if (ownRound !== round) return;
      entries.push(...page.objects.map(toEntry));
      scanned += page.scanned;
      cursor = page.cursor;
      onProgress();
    } while (cursor !== undefined && entries.length < enough);
  }

  /** @param {ListingRequest} next */
  function start(next) {
    const own = load(next).finally(() => {
      if (loading === own) loading = undefined;
    });
    loading = own;
    return own;
  }

  return {
    /** @param {ListingRequest} next */
    async begin(next) {
      round++;
      request = next;
      const previous = entries;
      entries = [];
      cursor = undefined;
      scanned = 0;
      selected.clear();
      try {
        await start(next);
      } catch (error) {
        entries = previous;
        throw error;
      }
    },
    /** Loads the next page, unless it is already loading. Returns whether entries were added. */
    async more() {
      if (cursor === undefined || loading !== undefined || request === undefined) return false;
      await start(request);
      return true;
    },
    /** Ends a search; what was found stays. */
    stop() {
      round++;
      cursor = undefined;
      loading = undefined;
    },
    /**
     * Adds an object that was just uploaded, if it belongs to what is loaded.
     *
     * @param {ObjectRow} row
     */
    insert(row) {
      const { prefix = "", view = "folders", text } = request ?? {};
      if (text !== undefined || !row.key.startsWith(prefix) || row.key === prefix) return;
      const slash = view === "folders" ? row.key.indexOf("/", prefix.length) : -1;
      const entry = slash === -1 ? toEntry(row) : toFolder(row.key.slice(0, slash + 1));
      const at = entries.findIndex(({ name }) => name === entry.name);
      if (at !== -1) entries[at] = entry;
      else if (
        cursor === undefined ||
        entries.some((one) => one.folder === entry.folder && one.name > entry.name)
      ) {
        const next = entries.findIndex((one) => one.folder === entry.folder && one.name > entry.name);
        const end = entry.folder ? entries.findLastIndex(({ folder }) => folder) + 1 : entries.length;
        entries.splice(next === -1 ? end : next, 0, entry);
      }
    },
    get entries() {
      return entries;
    },
    get hasMore() {
      return cursor !== undefined;
    },
    get isLoading() {
      return loading !== undefined;
    },
    get versioning() {
      return versioning;
    },
    get scanned() {
      return scanned;
    },
    selected,
  };
}

/**
 * @param {string} name
 * @returns {Entry}
 */
function toFolder(name) {
  return { name, folder: true };
}

/**
 * @param {ObjectRow | DeletedRow} row
 * @returns {Entry}
 */
function toEntry(row) {
  if ("deleted" in row) return { name: row.key, folder: false, deleted: row.deleted };
  return { name: row.key, folder: false, row };
}
