// Deletes many objects in batches, with progress and a stop button.
import { ask } from "../api.js";
import { openDialog, openForm } from "../dialog.js";
import { h } from "../dom.js";
import { counted, number } from "../format.js";
import { note, noteFailure } from "../notices.js";

/** @import { DeletedDocument } from "../../wire-types.ts" */
/** @import { Entry } from "./listing.js" */

const stepKeys = 500;

/**
 * @param {string} bucket
 * @param {readonly Entry[]} entries
 * @param {() => Promise<void>} done
 */
export function openDeletion(bucket, entries, done) {
  const folders = entries.filter(({ folder }) => folder).length;
  const objects = entries.length - folders;
  const parts = [
    ...(objects > 0 ? [counted(objects, "object")] : []),
    ...(folders > 0 ? [`${counted(folders, "folder")} with all objects in them`] : []),
  ];
  openForm({
    title: `Delete ${parts.join(" and ")}?`,
    danger: true,
    submit: "Delete",
    content: [
      h("p", {}, "This cannot be undone."),
      h("ul", { class: "names" }, ...entries.slice(0, 5).map(({ name }) => h("li", { class: "mono" }, name))),
      entries.length > 5 ? h("p", { class: "quiet" }, `and ${number(entries.length - 5)} more`) : "",
    ],
    async run() {
      void deleteAll(bucket, entries).then(done);
    },
  });
}

/**
 * Returns the number of deleted objects.
 *
 * @param {string} bucket
 * @param {readonly Entry[]} entries
 */
async function deleteAll(bucket, entries) {
  const keys = entries.filter(({ folder }) => !folder).map(({ name }) => name);
  const prefixes = entries.filter(({ folder }) => folder).map(({ name }) => name);
  await withProgress(async (progress) => {
    for (let i = 0; i < keys.length && !progress.isStopped(); i += stepKeys) {
      const some = keys.slice(i, i + stepKeys);
      progress.add(await step({ bucket, keys: some }));
    }
    for (const prefix of prefixes) await deleteUnder(bucket, prefix, progress);
  });
}

/**
 * Deletes all objects of a bucket.
 *
 * @param {string} bucket
 */
export async function emptyBucket(bucket) {
  await withProgress((progress) => deleteUnder(bucket, "", progress));
}

/** @typedef {{ isStopped: () => boolean, add: (step: DeletedDocument) => void }} Progress */

/**
 * @param {string} bucket
 * @param {string} prefix
 * @param {Progress} progress
 */
async function deleteUnder(bucket, prefix, progress) {
  for (let isMore = true; isMore && !progress.isStopped(); ) {
    const done = await step({ bucket, prefix });
    progress.add(done);
    isMore = done.isMore;
  }
}

/**
 * @param {{ bucket: string, keys?: readonly string[], prefix?: string }} what
 * @returns {Promise<DeletedDocument>}
 */
function step(what) {
  return ask("/api/objects/delete", { method: "POST", json: what });
}

/** @param {(progress: Progress) => Promise<void>} work */
async function withProgress(work) {
  let deleted = 0;
  let isStopped = false;
  const statusText = h("p", { role: "status" }, "Deleting…");
  const stop = () => {
    isStopped = true;
  };
  const dialog = openDialog(
    h(
      "div",
      {},
      h("h2", { id: "dialog-title" }, "Deleting"),
      statusText,
      h("div", { class: "actions" }, h("button", { type: "button", onclick: stop }, "Stop")),
    ),
  );
  dialog.addEventListener("cancel", (event) => {
    event.preventDefault();
    stop();
  });
  try {
    await work({
      isStopped: () => isStopped,
      add(done) {
        deleted += done.deleted;
        statusText.textContent = `${counted(deleted, "object")} deleted so far.`;
      },
    });
    note(
      `Deleted ${counted(deleted, "object")}.${isStopped ? " Stopped; the other objects were not deleted." : ""}`,
    );
  } catch (error) {
    noteFailure(error);
  } finally {
    dialog.close();
  }
}
