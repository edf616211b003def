// Rows of name and value, such as tags or custom metadata, that can be added and removed.
import { h, icon } from "./dom.js";
import { icons } from "./icons.js";

/**
 * @typedef {object} PairsOptions
 * @property {Iterable<readonly [string, string]>} pairs
 * @property {string} [addLabel]
 * @property {() => void} [changed]
 */

/** @param {PairsOptions} options */
export function createPairs({ pairs, addLabel = "Add", changed = () => {} }) {
  const rows = h("div", { class: "pairs", oninput: changed });
  const add = (name = "", value = "") => {
    const row = pairRow(name, value, changed);
    rows.append(row);
    return row;
  };
  for (const [name, value] of pairs) add(name, value);
  const button = h(
    "button",
    { type: "button", onclick: () => add().querySelector("input")?.focus() },
    icon(icons.add),
    addLabel,
  );
  return { rows, button, read: () => readPairs(rows) };
}

/**
 * @param {string} name
 * @param {string} value
 * @param {() => void} changed
 */
function pairRow(name, value, changed) {
  const remove = () => {
    row.remove();
    changed();
  };
  const row = h(
    "div",
    { class: "pair" },
    h("input", { "aria-label": "Name", placeholder: "name", value: name, autocomplete: "off" }),
    h("input", { "aria-label": "Value", placeholder: "value", value, autocomplete: "off" }),
    h(
      "button",
      { class: "tool", type: "button", "aria-label": "Remove", onclick: remove },
      icon(icons.close),
    ),
  );
  return row;
}

/** @param {HTMLElement} rows */
function readPairs(rows) {
  /** @type {[string, string][]} */
  const pairs = [];
  for (const row of rows.children) {
    const [name, value] = row.querySelectorAll("input");
    if (name !== undefined && value !== undefined && name.value !== "") pairs.push([name.value, value.value]);
  }
  return pairs;
}
