// Keyboard shortcuts, global and of the current page, and the dialog that lists them.
import { go } from "../client/router.js";
import { openDialog } from "../elements/dialog.js";
import { h } from "../elements/dom.js";
import { offeredPages } from "./pages.js";

/**
 * @typedef {object} Shortcut
 * @property {string} key as `KeyboardEvent.key`
 * @property {string} does description in the help dialog
 * @property {() => void} [run] missing for a shortcut that is handled elsewhere and only listed
 */

/** @type {readonly Shortcut[]} */
let pageShortcuts = [];

/**
 * Adds shortcuts until `signal` aborts.
 *
 * @param {AbortSignal} signal
 * @param {readonly Shortcut[]} shortcuts
 */
export function addShortcuts(signal, shortcuts) {
  pageShortcuts = shortcuts;
  signal.addEventListener("abort", () => {
    if (pageShortcuts === shortcuts) pageShortcuts = [];
  });
}

/** Number keys open the pages of the navigation. */
function globalShortcuts() {
  /** @type {Shortcut[]} */
  const all = [
    { key: "?", does: "Show these shortcuts", run: showHelp },
    { key: "Ctrl K", does: "Search pages, buckets and actions" },
  ];
  for (const [i, { id, title }] of offeredPages().entries()) {
    all.push({ key: String(i + 1), does: `Go to ${title}`, run: () => go(id) });
  }
  return all;
}

let isListening = false;
/** @type {() => void} */
let openPalette = () => {};

/** @param {() => void} palette opens the command palette */
export function listenForShortcuts(palette) {
  openPalette = palette;
  if (isListening) return;
  isListening = true;
  addEventListener("keydown", (event) => {
    const isPalette = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k";
    if (isPalette && document.querySelector(".sign-in, dialog[open]") === null) {
      event.preventDefault();
      openPalette();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.closest("input, textarea, select, dialog, .sign-in") !== null) return;
    const found = [...pageShortcuts, ...globalShortcuts()].find(
      ({ key, run }) => key === event.key && run !== undefined,
    );
    if (found === undefined || document.querySelector(".sign-in, dialog[open]") !== null) return;
    event.preventDefault();
    found.run?.();
  });
}

/** @type {Readonly<Record<string, string>>} */
const names = { " ": "Space", ArrowUp: "↑", ArrowDown: "↓" };

export function showHelp() {
  const rows = [...pageShortcuts, ...globalShortcuts()].map(({ key, does }) =>
    h("tr", {}, h("td", {}, h("kbd", {}, names[key] ?? key)), h("td", {}, does)),
  );
  /** @type {HTMLDialogElement} */
  const dialog = openDialog(
    h(
      "div",
      {},
      h("h2", { id: "dialog-title" }, "Keyboard shortcuts"),
      h("table", { class: "shortcuts" }, h("tbody", {}, ...rows)),
      h(
        "div",
        { class: "actions" },
        h("button", { class: "primary", type: "button", onclick: () => dialog.close() }, "Close"),
      ),
    ),
  );
  // The focus is on Close, below a long list.
  dialog.scrollTop = 0;
}
