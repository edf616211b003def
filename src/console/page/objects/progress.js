// Dialog that shows the progress of work on many objects, with a stop button.
import { openDialog } from "../elements/dialog.js";
import { h } from "../elements/dom.js";
import { noteFailure } from "../elements/notices.js";

/** @typedef {{ isStopped: () => boolean, setText: (text: string) => void }} Progress */

/**
 * Runs the work in a dialog. Shows its error, and then returns undefined.
 *
 * @template T
 * @param {string} title
 * @param {(progress: Progress) => Promise<T>} work
 * @returns {Promise<T | undefined>}
 */
export async function withProgress(title, work) {
  let isStopped = false;
  const statusText = h("p", { role: "status" }, "…");
  const stop = () => {
    isStopped = true;
  };
  const dialog = openDialog(
    h(
      "div",
      {},
      h("h2", { id: "dialog-title" }, title),
      statusText,
      h("div", { class: "actions" }, h("button", { type: "button", onclick: stop }, "Stop")),
    ),
  );
  dialog.addEventListener("cancel", (event) => {
    event.preventDefault();
    stop();
  });
  try {
    return await work({
      isStopped: () => isStopped,
      setText(text) {
        statusText.textContent = text;
      },
    });
  } catch (error) {
    noteFailure(error);
    return undefined;
  } finally {
    dialog.close();
  }
}
