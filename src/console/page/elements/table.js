// A table in a card. Header and cells share their columns, and on small screens each row is a block.
import { h } from "./dom.js";

/** @import { Child } from "./dom.js" */

/**
 * @typedef {object} Column
 * @property {string} name
 * @property {"number" | "when" | "mono"} [kind]
 */

/**
 * @param {object} options
 * @param {string} options.label
 * @param {readonly Column[]} options.columns the first is the header of its row
 * @param {readonly HTMLTableRowElement[]} options.rows
 * @param {boolean} [options.hasTools] a last column of actions
 */
export function table({ label, columns, rows, hasTools = false }) {
  const heads = columns.map(({ name, kind }) =>
    h("th", { scope: "col", class: kind === "number" ? "number" : undefined }, name),
  );
  const tools = hasTools
    ? h("th", { scope: "col", class: "tools-cell" }, h("span", { class: "unseen" }, "Actions"))
    : undefined;
  return h(
    "div",
    { class: "card table-scroll" },
    h(
      "table",
      { class: "stacks", "aria-label": label },
      h("thead", {}, h("tr", {}, ...heads, tools)),
      h("tbody", {}, ...rows),
    ),
  );
}

/**
 * @param {readonly Column[]} columns
 * @param {readonly (Child | Child[])[]} cells one for each column
 * @param {Child} [tools]
 */
export function tableRow(columns, cells, tools) {
  const all = cells.map((cell, i) => {
    const { name = "", kind } = columns[i] ?? {};
    const children = Array.isArray(cell) ? cell : [cell];
    if (i === 0) return h("th", { scope: "row", class: kind }, ...children);
    return h("td", { "data-name": name, class: kind }, ...children);
  });
  const last = tools === undefined ? undefined : h("td", { class: "tools-cell" }, tools);
  return h("tr", {}, ...all, last);
}
