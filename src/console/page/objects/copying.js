// Dialogs that create a folder, and rename, move or copy objects and folders, with progress.
import { ask } from "../client/api.js";
import { may } from "../client/permissions.js";
import { openForm } from "../elements/dialog.js";
import { h } from "../elements/dom.js";
import { bytes, counted, number } from "../elements/format.js";
import { note } from "../elements/notices.js";
import { send } from "../upload/send.js";
import { withProgress } from "./progress.js";
import { maskControls } from "./row.js";

/** @import { CopiedDocument } from "../../wire-bucket.ts" */
/** @import { BucketsDocument } from "../../wire-types.ts" */
/** @import { Entry } from "./listing.js" */

/** Objects in one request. */
const batchObjects = 100;

/**
 * @typedef {object} CopyJob
 * @property {string} bucket
 * @property {string} target bucket to copy to
 * @property {readonly { entry: Entry, to: string }[]} items
 * @property {boolean} isMove
 * @property {boolean} isReplaced
 */

/**
 * @param {string} bucket
 * @param {string} prefix
 * @param {() => void} done
 */
export function openNewFolder(bucket, prefix, done) {
  const name = nameInput("");
  openForm({
    title: "New folder",
    submit: "Create",
    content: [
      h("div", { class: "field" }, h("label", { for: "new-name" }, "Name"), name),
      h(
        "p",
        { class: "quiet small-text" },
        "Folders are parts of keys. An empty object with the name of the folder keeps it while it is empty.",
      ),
    ],
    async run() {
      const key = `${prefix}${name.value.replace(/\/+$/, "")}/`;
      const { signal } = new AbortController();
      await send("/api/object", { query: { bucket, key }, body: new Blob(), signal, onProgress: () => {} });
      note(`Created folder ${name.value}.`);
      done();
    },
  });
  name.focus();
}

/** @param {string} value */
function nameInput(value) {
  const input = { id: "new-name", required: true, autocomplete: "off", spellcheck: "false", value };
  return h("input", { ...input, maxlength: 1024 });
}

/**
 * @param {string} bucket
 * @param {Entry} entry
 * @param {(name: string) => void} done called with the new key
 */
export function openRename(bucket, entry, done) {
  const end = entry.folder ? "/" : "";
  const path = entry.folder ? entry.name.slice(0, -1) : entry.name;
  const above = path.slice(0, path.lastIndexOf("/") + 1);
  const name = nameInput(path.slice(above.length));
  openForm({
    title: entry.folder ? "Rename folder" : "Rename object",
    submit: "Rename",
    content: [
      h("div", { class: "field" }, h("label", { for: "new-name" }, "New name"), name),
      h(
        "p",
        { class: "quiet small-text" },
        entry.folder
          ? "Every object in the folder gets a new key, one after the other."
          : "The object gets a new key. Links to the old key stop working.",
      ),
    ],
    async run() {
      const to = `${above}${name.value}${end}`;
      const job = { bucket, target: bucket, items: [{ entry, to }], isMove: true, isReplaced: false };
      void runCopy(job).then((isDone) => isDone && done(to));
    },
  });
  name.select();
}

/**
 * @param {object} options
 * @param {string} options.bucket
 * @param {string} options.prefix folder of the entries
 * @param {readonly Entry[]} options.entries
 * @param {() => void} options.done
 */
export async function openMove({ bucket, prefix, entries, done }) {
  /** @type {BucketsDocument} */
  const { buckets } = await ask("/api/buckets");
  const target = h(
    "select",
    { id: "copy-bucket" },
    ...buckets
      .filter(({ name }) => may("edit", name))
      .map(({ name }) => h("option", { value: name, selected: name === bucket }, name)),
  );
  const folder = h("input", {
    ...{ id: "copy-folder", value: prefix, autocomplete: "off", spellcheck: "false" },
    "aria-describedby": "copy-help",
  });
  const action = h(
    "select",
    { id: "copy-action" },
    h("option", { value: "move" }, "Move"),
    h("option", { value: "copy" }, "Copy"),
  );
  const replaced = h("input", { type: "checkbox" });
  openForm({
    title: `Move or copy ${counted(entries.length, "item")}`,
    submit: "Continue",
    content: [
      h("div", { class: "field" }, h("label", { for: "copy-action" }, "Action"), action),
      h("div", { class: "field" }, h("label", { for: "copy-bucket" }, "To bucket"), target),
      h(
        "div",
        { class: "field" },
        h("label", { for: "copy-folder" }, "To folder"),
        folder,
        h(
          "p",
          { id: "copy-help", class: "quiet small-text" },
          "Such as 2026/photos/. Empty for the top of the bucket.",
        ),
      ),
      h("label", { class: "choice" }, replaced, "Replace objects that already exist"),
    ],
    async run() {
      const to = folder.value === "" || folder.value.endsWith("/") ? folder.value : `${folder.value}/`;
      const items = entries.map((entry) => ({ entry, to: to + lastPart(entry.name) }));
      const isMove = action.value === "move";
      const job = { bucket, target: target.value, items, isMove, isReplaced: replaced.checked };
      void runCopy(job).then(done);
    },
  });
  folder.focus();
}

/** @param {string} name the last part of a key, with the slash of a folder */
function lastPart(name) {
  return /[^/]*\/?$/.exec(name)?.[0] ?? name;
}

/**
 * Returns whether everything was copied.
 *
 * @param {CopyJob} job
 */
async function runCopy({ bucket, target, items, isMove, isReplaced }) {
  const sum = { copied: 0, bytes: 0 };
  /** @type {CopiedDocument["skipped"][number][]} */
  const skipped = [];
  const word = isMove ? "Moved" : "Copied";
  const shared = { bucket, target, isMove, isReplaced };
  await withProgress(isMove ? "Moving" : "Copying", async ({ isStopped, setText }) => {
    /** @param {object} what */
    const step = async (what) => {
      /** @type {CopiedDocument} */
      const page = await ask("/api/objects/copy", { method: "POST", json: { ...shared, ...what } });
      sum.copied += page.copied;
      sum.bytes += page.bytes;
      skipped.push(...page.skipped);
      setText(`${word} ${counted(sum.copied, "object")} (${bytes(sum.bytes)}) so far.`);
      return page.cursor;
    };
    const names = items
      .filter(({ entry }) => !entry.folder)
      .map(({ entry, to }) => ({ from: entry.name, to }));
    for (let i = 0; i < names.length && !isStopped(); i += batchObjects)
      await step({ names: names.slice(i, i + batchObjects) });
    for (const { entry, to } of items.filter(({ entry }) => entry.folder)) {
      /** @type {string | undefined} */
      let cursor;
      do cursor = await step({ prefix: entry.name, to, cursor });
      while (cursor !== undefined && !isStopped());
    }
    const stopped = isStopped() ? " Stopped; the other objects are where they were." : "";
    note(`${word} ${counted(sum.copied, "object")}.${stopped}`);
  });
  if (skipped.length > 0) showSkipped(skipped, isMove);
  return skipped.length === 0;
}

/**
 * @param {CopiedDocument["skipped"]} skipped
 * @param {boolean} isMove
 */
function showSkipped(skipped, isMove) {
  const shown = skipped.slice(0, 10);
  openForm({
    title: `${counted(skipped.length, "object was", "objects were")} not ${isMove ? "moved" : "copied"}`,
    submit: "Close",
    content: [
      h(
        "ul",
        { class: "names" },
        ...shown.map(({ key, message }) =>
          h("li", {}, h("span", { class: "mono" }, maskControls(key)), `: ${message}`),
        ),
      ),
      skipped.length > shown.length
        ? h("p", { class: "quiet" }, `and ${number(skipped.length - shown.length)} more`)
        : "",
    ],
    async run() {},
  });
}
