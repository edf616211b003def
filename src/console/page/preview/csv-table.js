// CSV as a table: fields may be quoted, the separator is a comma, semicolon or tab.
import { h } from "../elements/dom.js";
import { number } from "../elements/format.js";

const maxRows = 500;
const maxColumns = 50;

/**
 * @param {string} text
 * @param {{ isWhole: boolean }} options
 */
export function render(text, { isWhole }) {
  const rows = parseCsv(text, separatorOf(text), maxRows + 1);
  // The last line of a cut text is not complete.
  if (!isWhole && rows.length <= maxRows) rows.pop();
  const [head = [], ...body] = rows;
  const shown = body.slice(0, maxRows - 1);
  const table = h(
    "table",
    { class: "csv" },
    h("thead", {}, h("tr", {}, ...head.slice(0, maxColumns).map((cell) => h("th", { scope: "col" }, cell)))),
    h(
      "tbody",
      {},
      ...shown.map((row) => h("tr", {}, ...row.slice(0, maxColumns).map((cell) => h("td", {}, cell)))),
    ),
  );
  const isCut = body.length > shown.length || head.length > maxColumns;
  const note = `The first ${number(shown.length)} rows and ${number(Math.min(head.length, maxColumns))} columns.`;
  return h("div", {}, table, isCut ? h("p", { class: "quiet" }, note) : undefined);
}

/** @param {string} text the most frequent separator of the first line */
function separatorOf(text) {
  const [line = ""] = text.split("\n", 1);
  const count = (/** @type {string} */ one) => line.split(one).length;
  return [",", ";", "\t"].reduce((best, one) => (count(one) > count(best) ? one : best));
}

/**
 * @param {string} text
 * @param {string} separator
 * @param {number} limit
 */
export function parseCsv(text, separator, limit) {
  /** @type {string[][]} */
  const rows = [];
  /** @type {string[]} */
  let row = [];
  let field = "";
  let isQuoted = false;
  for (let i = 0; i < text.length && rows.length < limit; i++) {
    const c = text[i];
    if (isQuoted) {
      if (c !== '"') field += c;
      else if (text[i + 1] === '"') {
        field += '"';
        i++;
      } else isQuoted = false;
    } else if (c === '"' && field === "") isQuoted = true;
    else if (c === separator) {
      row.push(field);
      field = "";
    } else if (c === "\n") {
      rows.push([...row, field]);
      row = [];
      field = "";
    } else if (c !== "\r") field += c;
  }
  if (rows.length < limit && (field !== "" || row.length > 0)) rows.push([...row, field]);
  return rows;
}
