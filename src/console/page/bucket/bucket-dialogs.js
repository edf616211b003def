// Dialogs that create, empty and delete buckets. A bucket that is not empty is emptied first, with
// progress, if the user confirms it.
import { ask } from "../client/api.js";
import { openConfirmation, openForm } from "../elements/dialog.js";
import { h } from "../elements/dom.js";
import { bytes, counted } from "../elements/format.js";
import { note, noteFailure } from "../elements/notices.js";
import { emptyBucket } from "../objects/deletion.js";
import { withProgress } from "../objects/progress.js";
import { maskControls } from "../objects/row.js";

/** @import { EmptiedDocument } from "../../wire-bucket.ts" */
/** @import { TotalsDocument } from "../../wire-types.ts" */

/** @param {(name: string) => void} done */
export function openCreation(done) {
  const name = h("input", {
    ...{ id: "bucket-name", autocomplete: "off", spellcheck: "false", required: true },
    ...{ minlength: 3, maxlength: 63, "aria-describedby": "bucket-name-help" },
  });
  const storageClass = h(
    "select",
    { id: "bucket-class" },
    h("option", { value: "Standard" }, "Standard"),
    h("option", { value: "InfrequentAccess" }, "Infrequent access"),
  );
  openForm({
    title: "Create a bucket",
    submit: "Create",
    content: [
      h(
        "div",
        { class: "field" },
        h("label", { for: "bucket-name" }, "Name"),
        name,
        h(
          "p",
          { id: "bucket-name-help", class: "quiet small-text" },
          "3 to 63 lowercase letters, digits, dots and dashes.",
        ),
      ),
      h(
        "div",
        { class: "field" },
        h("label", { for: "bucket-class" }, "Default storage class"),
        storageClass,
      ),
    ],
    async run() {
      const json = { name: name.value, storageClass: storageClass.value };
      await ask("/api/buckets", { method: "POST", json });
      note(`Created bucket ${name.value}.`);
      done(name.value);
    },
  });
  name.focus();
}

/**
 * @param {string} name
 * @param {() => void} done
 */
export function openEmptying(name, done) {
  openConfirmation({
    name,
    title: `Empty bucket ${name}?`,
    submit: "Delete all objects",
    content: [
      h(
        "p",
        {},
        "This deletes all objects in the bucket: permanently, unless versioning is on and keeps their versions. The bucket and its settings stay.",
      ),
    ],
    async run() {
      void emptyBucket(name).then(done).catch(noteFailure);
    },
  });
}

/**
 * @param {string} name
 * @param {() => void} done
 */
export async function openDeletion(name, done) {
  try {
    /** @type {TotalsDocument} */
    const totals = await ask("/api/buckets/totals", { query: { bucket: name } });
    confirmDeletion(name, totals, done);
  } catch (error) {
    noteFailure(error);
  }
}

/**
 * @param {string} name
 * @param {TotalsDocument} totals
 * @param {() => void} done
 */
function confirmDeletion(name, { objects, noncurrentVersions, bytes: size, noncurrentBytes }, done) {
  const isEmpty = objects + noncurrentVersions === 0;
  const contents = [
    counted(objects, "object"),
    ...(noncurrentVersions === 0 ? [] : [counted(noncurrentVersions, "older version")]),
  ].join(" and ");
  openConfirmation({
    name,
    title: `Delete bucket ${name}?`,
    submit: isEmpty ? "Delete bucket" : "Empty and delete bucket",
    content: isEmpty
      ? [h("p", {}, "The bucket is empty. Its settings, share links and uploads in progress are removed.")]
      : [
          h(
            "p",
            { class: "notice" },
            `This permanently deletes ${contents} (${bytes(size + noncurrentBytes)}), and then the bucket with its settings.`,
          ),
        ],
    async run() {
      const run = async () => {
        if (!isEmpty && !(await emptyForGood(name))) return;
        await ask("/api/buckets", { method: "DELETE", query: { bucket: name } });
        note(`Deleted bucket ${name}.`);
        done();
      };
      if (isEmpty) await run();
      else void run().catch(noteFailure);
    },
  });
}

/**
 * Removes all versions. Returns whether nothing is left.
 *
 * @param {string} bucket
 */
async function emptyForGood(bucket) {
  const locked = await withProgress("Checking for locks", ({ isStopped }) =>
    runPages({ bucket, isCheck: true }, isStopped, () => {}),
  );
  if (locked === undefined || locked.isStopped) return false;
  if (locked.count > 0) {
    showLocked(bucket, locked);
    return false;
  }
  let deleted = 0;
  const result = await withProgress(`Emptying ${bucket}`, ({ isStopped, setText }) =>
    runPages({ bucket }, isStopped, (page) => {
      deleted += page.deleted;
      setText(`${counted(deleted, "object or version", "objects and versions")} deleted so far.`);
    }),
  );
  if (result === undefined) return false;
  if (result.isStopped) note("Stopped; the bucket and the rest of its objects were not deleted.");
  return !result.isStopped && result.count === 0;
}

/**
 * @param {{ bucket: string, isCheck?: boolean }} what
 * @param {() => boolean} isStopped
 * @param {(page: EmptiedDocument) => void} onPage
 */
async function runPages(what, isStopped, onPage) {
  /** @type {EmptiedDocument["locked"][number][]} */
  const named = [];
  let count = 0;
  /** @type {string | undefined} */
  let cursor;
  do {
    /** @type {EmptiedDocument} */
    const page = await ask("/api/buckets/empty", { method: "POST", json: { ...what, cursor } });
    onPage(page);
    count += page.lockedCount;
    if (named.length < 5) named.push(...page.locked.slice(0, 5 - named.length));
    cursor = page.cursor;
  } while (cursor !== undefined && !isStopped());
  return { count, named, isStopped: cursor !== undefined };
}

/**
 * @param {string} bucket
 * @param {{ count: number, named: readonly { key: string, message: string }[] }} locked
 */
function showLocked(bucket, { count, named }) {
  openForm({
    title: `${bucket} cannot be deleted`,
    submit: "Close",
    content: [
      h("p", {}, `${counted(count, "version is", "versions are")} locked. Nothing was deleted.`),
      h(
        "ul",
        { class: "names" },
        ...named.map(({ key, message }) =>
          h("li", {}, h("span", { class: "mono" }, maskControls(key)), `: ${message}`),
        ),
      ),
    ],
    async run() {},
  });
}
