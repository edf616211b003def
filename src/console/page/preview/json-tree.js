// JSON as a tree whose parts can be folded. Text that is cut or not valid is shown as it is.
import { h } from "../elements/dom.js";
import { number } from "../elements/format.js";

/** Values that are shown; the rest of a large document is only counted. */
const maxValues = 5000;
/** Levels that are open at first. */
const openLevels = 3;

/**
 * @param {string} text
 * @param {{ isWhole: boolean }} options
 */
export function render(text, { isWhole }) {
  let value;
  try {
    value = isWhole ? JSON.parse(text) : undefined;
  } catch {
    return h("pre", {}, text);
  }
  if (!isWhole) return h("pre", {}, text);
  const budget = { left: maxValues };
  return h("div", { class: "json-tree" }, valueElement(value, { level: 0, budget }));
}

/** @typedef {{ level: number, budget: { left: number }, name?: string }} NodeOptions */

/**
 * @param {unknown} value
 * @param {NodeOptions} options
 * @returns {HTMLElement}
 */
function valueElement(value, { level, budget, name }) {
  budget.left--;
  const label = name === undefined ? undefined : [h("span", { class: "json-name" }, name), ": "];
  if (typeof value !== "object" || value === null)
    return h("div", { class: "json-line" }, ...(label ?? []), scalar(value));
  const isList = Array.isArray(value);
  const entries = isList ? [...value.entries()] : Object.entries(value);
  const count = isList ? `[${number(entries.length)}]` : `{${number(entries.length)}}`;
  const children = h("div", { class: "json-children" });
  for (const [key, child] of entries) {
    if (budget.left <= 0) {
      children.append(h("p", { class: "quiet" }, "The rest is not shown. Download the object to see it."));
      break;
    }
    children.append(valueElement(child, { level: level + 1, budget, name: String(key) }));
  }
  return h(
    "details",
    { open: level < openLevels },
    h("summary", {}, ...(label ?? []), h("span", { class: "quiet" }, count)),
    children,
  );
}

/** @param {unknown} value */
function scalar(value) {
  const kind = typeof value === "string" ? "string" : typeof value === "number" ? "number" : "keyword";
  return h("span", { class: `token-${kind}` }, JSON.stringify(value));
}
