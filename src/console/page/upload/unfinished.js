// Offers to resume uploads that were interrupted when the page was closed.
import { ask } from "../client/api.js";
import { h } from "../elements/dom.js";
import { note, noteFailure } from "../elements/notices.js";
import { deleteNote, findFileNote, listNotes } from "./notes.js";
import { addFiles, allTasks } from "./queue.js";

/** Names in the notice. */
const maxNamed = 5;

/** @param {string} bucket */
export function unfinishedNotice(bucket) {
  const isRunning = (/** @type {string} */ key) =>
    allTasks().some((task) => task.bucket === bucket && task.key === key && task.state !== "failed");
  const notes = listNotes(bucket).filter(({ key }) => !isRunning(key));
  if (notes.length === 0) return undefined;
  const input = h("input", {
    type: "file",
    class: "unseen",
    tabindex: -1,
    multiple: true,
    "aria-label": "Files to resume",
    onchange() {
      const files = [...(input.files ?? [])].map((file) => ({ file, key: findFileNote(bucket, file)?.key }));
      const matched = files.flatMap(({ file, key }) => (key === undefined ? [] : [{ file, key }]));
      if (matched.length > 0) addFiles(bucket, matched);
      if (matched.length < files.length)
        note("This is not the same file: its name, size or date differs.", "failed");
      if (matched.length > 0) notice.remove();
    },
  });
  async function discardAll() {
    for (const one of notes) {
      const { key, id: upload } = one;
      if (upload !== "") await ask("/api/uploads", { method: "DELETE", query: { bucket, key, upload } });
      deleteNote(one);
    }
    notice.remove();
  }
  const more = notes.length > maxNamed ? ` and ${notes.length - maxNamed} more` : "";
  const names =
    notes
      .slice(0, maxNamed)
      .map(({ name }) => name)
      .join(", ") + more;
  const notice = h(
    "div",
    { class: "notice unfinished" },
    h("span", {}, `Interrupted uploads: ${names}. Select the same files again to resume.`),
    h("button", { type: "button", onclick: () => input.click() }, "Select files"),
    h("button", { type: "button", onclick: () => discardAll().catch(noteFailure) }, "Discard"),
    input,
  );
  return notice;
}
