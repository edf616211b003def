// Restores objects: deleted objects of a selection, or a whole folder to a time.
import { ask } from "../client/api.js";
import { openForm } from "../elements/dialog.js";
import { h } from "../elements/dom.js";
import { counted, number, time } from "../elements/format.js";
import { note } from "../elements/notices.js";
import { withProgress } from "./progress.js";
import { maskControls } from "./row.js";

/** @import { DeletedObjectsDocument, RestoredDocument } from "../../wire-types.ts" */
/** @import { Entry } from "./listing.js" */
/** @import { Progress } from "./progress.js" */

/**
 * Restores the newest version of each deleted object, also of those in selected folders.
 *
 * @param {string} bucket
 * @param {readonly Entry[]} entries
 */
export async function restoreDeleted(bucket, entries) {
  let restored = 0;
  await withProgress("Restoring", async ({ isStopped, setText }) => {
    for (const { name, folder } of entries) {
      const keys = folder ? deletedUnder(bucket, name) : [name];
      for await (const key of keys) {
        if (isStopped()) break;
        await ask("/api/versions/restore", { method: "POST", json: { bucket, key } });
        restored++;
        setText(`${counted(restored, "object")} restored so far.`);
      }
    }
    const stopped = isStopped() ? " Stopped; the other objects are still deleted." : "";
    note(`Restored ${counted(restored, "object")}.${stopped}`);
  });
}

/**
 * @param {string} bucket
 * @param {string} prefix
 */
async function* deletedUnder(bucket, prefix) {
  /** @type {string | undefined} */
  let cursor;
  do {
    /** @type {DeletedObjectsDocument} */
    const page = await ask("/api/objects/deleted", { query: { bucket, prefix, cursor } });
    for (const { key } of page.objects) yield key;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

/**
 * @typedef {object} FolderRestore
 * @property {string} bucket
 * @property {string} prefix
 * @property {number} at
 */

/**
 * Shows what would change, and restores the folder if the user confirms.
 *
 * @param {FolderRestore} folder
 * @param {() => void} done
 */
export async function restoreFolder(folder, done) {
  const name = folder.prefix === "" ? folder.bucket : maskControls(folder.prefix);
  const counts = await withProgress("Comparing", (progress) => runPages(folder, true, progress));
  if (counts === undefined || counts.isStopped) return;
  const isSame = counts.restored + counts.deleted === 0;
  openForm({
    title: isSame ? "Nothing to restore" : `Restore ${name} to ${time(folder.at)}?`,
    submit: isSame ? "Close" : "Restore",
    content: [
      h(
        "dl",
        { class: "facts" },
        ...fact("Restored", counts.restored, "earlier version becomes current"),
        ...fact("Deleted", counts.deleted, "did not exist at that time"),
        ...fact("Unchanged", counts.unchanged, "already as at that time"),
      ),
      isSame ? "" : h("p", { class: "quiet" }, "All current versions are kept, so that you can go back."),
    ],
    async run() {
      if (!isSame) void runRestore(folder, done);
    },
  });
}

/**
 * @param {string} title
 * @param {number} count
 * @param {string} meaning
 */
function fact(title, count, meaning) {
  return [h("dt", {}, title), h("dd", {}, h("strong", {}, number(count)), ` (${meaning})`)];
}

/**
 * @param {FolderRestore} folder
 * @param {() => void} done
 */
async function runRestore(folder, done) {
  const counts = await withProgress("Restoring", (progress) => runPages(folder, false, progress));
  if (counts === undefined) return;
  const stopped = counts.isStopped ? " Stopped; the other objects were not changed." : "";
  note(
    `Restored ${counted(counts.restored, "object")}, deleted ${counted(counts.deleted, "object")}.${stopped}`,
  );
  done();
}

/**
 * @param {FolderRestore} folder
 * @param {boolean} isDryRun
 * @param {Progress} progress
 */
async function runPages({ bucket, prefix, at }, isDryRun, { isStopped, setText }) {
  const sum = { restored: 0, deleted: 0, unchanged: 0 };
  /** @type {string | undefined} */
  let cursor;
  do {
    /** @type {RestoredDocument} */
    const page = await ask("/api/objects/restore", {
      method: "POST",
      json: { bucket, prefix, time: at, isDryRun, cursor },
    });
    sum.restored += page.restored;
    sum.deleted += page.deleted;
    sum.unchanged += page.unchanged;
    setText(
      `${number(sum.restored)} restored, ${number(sum.deleted)} deleted, ${number(sum.unchanged)} unchanged so far.`,
    );
    cursor = page.cursor;
  } while (cursor !== undefined && !isStopped());
  return { ...sum, isStopped: cursor !== undefined };
}
