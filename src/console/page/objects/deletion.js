// Deletes many objects in batches, with progress and a stop button.
import { ask } from "../client/api.js";
import { openForm } from "../elements/dialog.js";
import { h } from "../elements/dom.js";
import { counted, number } from "../elements/format.js";
import { note } from "../elements/notices.js";
import { withProgress } from "./progress.js";

/** @import { DeletedDocument, VersioningState } from "../../wire-types.ts" */
/** @import { Entry } from "./listing.js" */
/** @import { Progress } from "./progress.js" */

const stepKeys = 500;

/** What a delete means, by the versioning of the bucket. */
export const deletionTexts = {
  off: "This cannot be undone.",
  on: "The versions are kept: a delete marker hides each object, and it can be restored.",
  suspended:
    "A delete marker hides each object. Versions written while versioning was on are kept; others are deleted for good.",
};

/**
 * @typedef {object} DeletionOptions
 * @property {string} bucket
 * @property {readonly Entry[]} entries
 * @property {VersioningState} versioning
 * @property {() => Promise<void>} done
 */

/** @param {DeletionOptions} options */
export function openDeletion({ bucket, entries, versioning, done }) {
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
      h("p", {}, deletionTexts[versioning]),
      h("ul", { class: "names" }, ...entries.slice(0, 5).map(({ name }) => h("li", { class: "mono" }, name))),
      entries.length > 5 ? h("p", { class: "quiet" }, `and ${number(entries.length - 5)} more`) : "",
    ],
    async run() {
      void deleteAll(bucket, entries).then(done);
    },
  });
}

/**
 * @param {string} bucket
 * @param {readonly Entry[]} entries
 */
async function deleteAll(bucket, entries) {
  const keys = entries.filter(({ folder }) => !folder).map(({ name }) => name);
  const prefixes = entries.filter(({ folder }) => folder).map(({ name }) => name);
  await runDeletion(async (deletion) => {
    for (let i = 0; i < keys.length && !deletion.isStopped(); i += stepKeys) {
      const some = keys.slice(i, i + stepKeys);
      deletion.add(await step({ bucket, keys: some }));
    }
    for (const prefix of prefixes) await deleteUnder(bucket, prefix, deletion);
  });
}

/**
 * Deletes all objects of a bucket.
 *
 * @param {string} bucket
 */
export async function emptyBucket(bucket) {
  await runDeletion((deletion) => deleteUnder(bucket, "", deletion));
}

/** @typedef {Pick<Progress, "isStopped"> & { add: (step: DeletedDocument) => void }} Deletion */

/**
 * @param {string} bucket
 * @param {string} prefix
 * @param {Deletion} deletion
 */
async function deleteUnder(bucket, prefix, deletion) {
  for (let isMore = true; isMore && !deletion.isStopped(); ) {
    const done = await step({ bucket, prefix });
    deletion.add(done);
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

/** @param {(deletion: Deletion) => Promise<void>} work */
function runDeletion(work) {
  let deleted = 0;
  let markers = 0;
  return withProgress("Deleting", async ({ isStopped, setText }) => {
    await work({
      isStopped,
      add(done) {
        deleted += done.deleted;
        markers += done.markers;
        setText(`${counted(deleted, "object")} deleted so far.`);
      },
    });
    const written = markers === 0 ? "" : ` ${counted(markers, "delete marker")} written; versions are kept.`;
    const stopped = isStopped() ? " Stopped; the other objects were not deleted." : "";
    note(`Deleted ${counted(deleted, "object")}.${written}${stopped}`);
  });
}
