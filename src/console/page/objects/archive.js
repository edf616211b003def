// Downloads several objects and folders as one ZIP archive, which the server streams.
import { address, ask } from "../client/api.js";
import { h } from "../elements/dom.js";
import { bytes, counted } from "../elements/format.js";
import { note, noteFailure } from "../elements/notices.js";

/** @import { ArchiveDocument } from "../../wire-bucket.ts" */
/** @import { Entry } from "./listing.js" */

/**
 * @param {string} bucket
 * @param {string} base folder of the entries
 * @param {readonly Entry[]} entries
 */
export async function downloadEntries(bucket, base, entries) {
  const [only, ...others] = entries;
  if (only !== undefined && others.length === 0 && !only.folder)
    return follow(address("/api/content", { bucket, key: only.name }));
  const keys = entries.filter(({ folder }) => !folder).map(({ name }) => name);
  const prefixes = entries.filter(({ folder }) => folder).map(({ name }) => name);
  try {
    /** @type {ArchiveDocument} */
    const {
      id,
      objects,
      bytes: size,
    } = await ask("/api/archive", {
      method: "POST",
      json: { bucket, base, keys, prefixes },
    });
    note(`Downloading ${counted(objects, "object")} (${bytes(size)}) as a ZIP archive.`);
    follow(address("/api/archive", { bucket, id }));
  } catch (error) {
    noteFailure(error);
  }
}

/** @param {string} href */
function follow(href) {
  const link = h("a", { href, download: "" });
  document.body.append(link);
  link.click();
  link.remove();
}
