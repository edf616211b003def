// File selection: by buttons, or by dropping files and folders on the page of a bucket.
import { h, icon } from "../elements/dom.js";
import { icons } from "../elements/icons.js";
import { noteFailure } from "../elements/notices.js";
import { addFiles } from "./queue.js";

/** @typedef {{ bucket: string, prefix: string }} Target */

/** @param {Target} target */
export function uploadButtons({ bucket, prefix }) {
  /** @param {boolean} isFolder */
  const picker = (isFolder) =>
    h("input", {
      type: "file",
      class: "unseen",
      tabindex: -1,
      multiple: true,
      webkitdirectory: isFolder,
      "aria-label": isFolder ? "Folder to upload" : "Files to upload",
      /** @param {Event} event */
      onchange(event) {
        const input = /** @type {HTMLInputElement} */ (event.target);
        const files = [...(input.files ?? [])];
        addFiles(
          bucket,
          files.map((file) => ({ file, key: prefix + (file.webkitRelativePath || file.name) })),
        );
        input.value = "";
      },
    });
  const files = picker(false);
  const folder = picker(true);
  const pickFiles = () => files.click();
  const pickFolder = () => folder.click();
  return {
    pickFiles,
    pickFolder,
    elements: [
      h(
        "button",
        { class: "primary", type: "button", onclick: pickFiles },
        icon(icons.uploads),
        "Upload files",
      ),
      h("button", { type: "button", onclick: pickFolder }, icon(icons.folder), "Upload folder"),
      files,
      folder,
    ],
  };
}

/**
 * @param {HTMLElement} area
 * @param {Target} target
 * @param {AbortSignal} signal
 */
export function acceptDrops(area, { bucket, prefix }, signal) {
  /** @param {DragEvent} event */
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files") === true;
  /** @param {boolean} isOver */
  const mark = (isOver) => area.classList.toggle("dropping", isOver);
  addEventListener(
    "dragover",
    (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      mark(true);
    },
    { signal },
  );
  addEventListener("dragleave", (event) => event.relatedTarget === null && mark(false), { signal });
  addEventListener(
    "drop",
    (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      mark(false);
      // Dropped items are only accessible during the event, so their entries are read now.
      const entries = [...(event.dataTransfer?.items ?? [])].map((item) => item.webkitGetAsEntry());
      addEntries(bucket, prefix, entries).catch(noteFailure);
    },
    { signal },
  );
}

const groupFiles = 200;

/**
 * @param {string} bucket
 * @param {string} prefix
 * @param {readonly (FileSystemEntry | null)[]} entries
 */
async function addEntries(bucket, prefix, entries) {
  /** @type {{ key: string, file: File }[]} */
  let group = [];
  for (const entry of entries) {
    if (entry === null) continue;
    for await (const { path, file } of filesUnder(entry, "")) {
      group.push({ key: prefix + path, file });
      if (group.length < groupFiles) continue;
      addFiles(bucket, group);
      group = [];
    }
  }
  addFiles(bucket, group);
}

/**
 * @param {FileSystemEntry} entry
 * @param {string} above
 * @returns {AsyncIterable<{ path: string, file: File }>}
 */
async function* filesUnder(entry, above) {
  const path = above + entry.name;
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) =>
      /** @type {FileSystemFileEntry} */ (entry).file(resolve, reject),
    );
    yield { path, file };
    return;
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  // readEntries returns one batch per call, and an empty batch at the end.
  for (;;) {
    /** @type {FileSystemEntry[]} */
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return;
    for (const one of some) yield* filesUnder(one, `${path}/`);
  }
}
