// The command palette: finds pages, buckets and actions by any part of their name.
import { ask } from "../client/api.js";
import { may } from "../client/permissions.js";
import { go } from "../client/router.js";
import { openDialog } from "../elements/dialog.js";
import { h, icon } from "../elements/dom.js";
import { icons } from "../elements/icons.js";
import { offeredPages } from "./pages.js";
import { showHelp } from "./shortcuts.js";
import { switchTheme } from "./theme-switch.js";

/** @import { BucketsDocument } from "../../wire-types.ts" */

/**
 * @typedef {object} Entry
 * @property {string} label
 * @property {string} kind
 * @property {keyof typeof icons} icon
 * @property {() => void} run
 */

const maxShown = 50;

/** @param {{ signOut: () => Promise<void> }} options */
export function openPalette({ signOut }) {
  if (document.querySelector("dialog[open]") !== null) return;
  /** @type {Entry[]} */
  let entries = [...pageEntries(), ...actionEntries(signOut)];
  /** @type {Entry[]} */
  let shown = [];
  let active = 0;
  const list = h("ul", { id: "palette-list", role: "listbox", "aria-label": "Results" });
  const none = h("p", { class: "none", role: "status" });
  const input = h("input", {
    type: "text",
    role: "combobox",
    placeholder: "Search pages, buckets and actions",
    autocomplete: "off",
    spellcheck: "false",
    "aria-label": "Search pages, buckets and actions",
    "aria-controls": "palette-list",
    "aria-expanded": "true",
    oninput: () => draw(0),
    onkeydown: (/** @type {KeyboardEvent} */ event) => onKey(event),
  });

  /** @param {number} index */
  function draw(index) {
    shown = filterEntries(entries, input.value).slice(0, maxShown);
    active = Math.max(0, Math.min(shown.length - 1, index));
    list.replaceChildren(
      ...shown.map((entry, i) =>
        h(
          "li",
          {
            ...{ id: `palette-${i}`, role: "option", "aria-selected": String(i === active) },
            onclick: () => choose(i),
          },
          icon(icons[entry.icon]),
          h("span", {}, entry.label),
          // Separates the words of the accessible name.
          " ",
          h("span", { class: "kind" }, entry.kind),
        ),
      ),
    );
    list.hidden = shown.length === 0;
    none.textContent = shown.length === 0 ? "Nothing found. Try another part of the name." : "";
    none.hidden = shown.length > 0;
    if (shown.length > 0) input.setAttribute("aria-activedescendant", `palette-${active}`);
    else input.removeAttribute("aria-activedescendant");
    list.children[active]?.scrollIntoView({ block: "nearest" });
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    if (event.key === "ArrowDown") draw((active + 1) % Math.max(1, shown.length));
    else if (event.key === "ArrowUp") draw((active - 1 + shown.length) % Math.max(1, shown.length));
    else if (event.key === "Enter") choose(active);
    else return;
    event.preventDefault();
  }

  /** @param {number} index */
  function choose(index) {
    const entry = shown[index];
    if (entry === undefined) return;
    dialog.close();
    entry.run();
  }

  /** @type {HTMLDialogElement} */
  const dialog = openDialog(
    h("div", {}, h("h2", { id: "dialog-title", class: "unseen" }, "Search"), input, none, list),
  );
  dialog.classList.add("palette");
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  draw(0);
  input.focus();
  bucketEntries().then(
    (found) => {
      entries = [...pageEntries(), ...found, ...actionEntries(signOut)];
      draw(active);
    },
    // Without the buckets, pages and actions are still found.
    () => {},
  );
}

/** @returns {Entry[]} */
function pageEntries() {
  return offeredPages().map(({ id, title, icon: name = "overview" }) => ({
    ...{ label: title, kind: "Page", icon: name },
    run: () => go(id),
  }));
}

/** @returns {Promise<Entry[]>} */
async function bucketEntries() {
  /** @type {BucketsDocument} */
  const { buckets } = await ask("/api/buckets");
  return buckets.map(({ name }) => ({
    ...{ label: name, kind: "Bucket", icon: /** @type {const} */ ("buckets") },
    run: () => go("objects", { bucket: name }),
  }));
}

/**
 * @param {() => Promise<void>} signOut
 * @returns {Entry[]}
 */
function actionEntries(signOut) {
  /** @type {Entry[]} */
  const administration = [
    { label: "Create bucket", kind: "Action", icon: "add", run: () => go("buckets", { create: "1" }) },
    { label: "Create key", kind: "Action", icon: "add", run: () => go("keys", { create: "1" }) },
    { label: "Create user", kind: "Action", icon: "add", run: () => go("users", { create: "1" }) },
    {
      ...{ label: "Create token", kind: "Action", icon: "add" },
      run: () => go("users", { tab: "tokens", create: "1" }),
    },
  ];
  return [
    ...(may("administer") ? administration : []),
    { label: "Switch theme", kind: "Action", icon: "theme", run: switchTheme },
    { label: "Keyboard shortcuts", kind: "Action", icon: "help", run: showHelp },
    { label: "Sign out", kind: "Action", icon: "signOut", run: () => void signOut() },
  ];
}

/**
 * Every word must be in the name. Names that begin with the text come first.
 *
 * @param {readonly Entry[]} entries
 * @param {string} typed
 */
function filterEntries(entries, typed) {
  const text = typed.trim().toLowerCase();
  const words = text.split(/\s+/);
  const found = entries.filter(({ label, kind }) => {
    const name = `${label} ${kind}`.toLowerCase();
    return words.every((word) => name.includes(word));
  });
  /** @param {Entry} entry */
  const order = ({ label }) => (label.toLowerCase().startsWith(text) ? 0 : 1);
  return found.sort((a, b) => order(a) - order(b));
}
