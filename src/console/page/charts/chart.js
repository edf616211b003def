// A line chart over time, as SVG with HTML labels. For accessibility it has a text summary and a
// table.
import { h } from "../elements/dom.js";
import { time } from "../elements/format.js";
import { drawLines } from "./lines.js";

/**
 * @typedef {object} Line
 * @property {string} name
 * @property {(number | undefined)[]} values one value for each time; undefined leaves a gap
 */

/**
 * @typedef {object} ChartOptions
 * @property {string} title
 * @property {number[]} times
 * @property {Line[]} lines at most four
 * @property {(value: number) => string} format
 */

/** @param {ChartOptions} options */
export function chart({ title, times, lines: drawn, format }) {
  const maxValue = Math.max(0, ...drawn.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const top = niceTop(maxValue);
  const latest = drawn.map(({ name, values }) => `${name} ${formatValue(values.at(-1), format)}`).join(", ");
  const svg = drawLines({ times, drawn, top });
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${title}: ${latest}; maximum ${format(maxValue)}`);
  return h(
    "section",
    { class: "card chart", "aria-label": title },
    h("h2", {}, title),
    h(
      "ul",
      { class: "legend" },
      ...drawn.map(({ name, values }, i) =>
        h(
          "li",
          { class: `line-${i + 1}` },
          h("span", { class: "swatch", "aria-hidden": "true" }),
          `${name} `,
          h("strong", {}, formatValue(values.at(-1), format)),
        ),
      ),
    ),
    h("div", { class: "plot" }, svg, h("span", { class: "top quiet", "aria-hidden": "true" }, format(top))),
    h(
      "div",
      { class: "ends quiet", "aria-hidden": "true" },
      h("span", {}, clock(times[0])),
      h("span", {}, clock(times.at(-1))),
    ),
    table({ title, times, lines: drawn, format }),
  );
}

/** Number of latest values in the table. */
const rowsShown = 20;

/** @param {ChartOptions} options */
function table({ title, times, lines: drawn, format }) {
  const body = h("tbody", {});
  for (let i = times.length - 1; i >= Math.max(0, times.length - rowsShown); i--) {
    const cells = drawn.map(({ values }) => h("td", { class: "number" }, formatValue(values[i], format)));
    body.append(h("tr", {}, h("th", { scope: "row" }, time(times[i] ?? 0)), ...cells));
  }
  const heads = drawn.map(({ name }) => h("th", { scope: "col", class: "number" }, name));
  return h(
    "details",
    {},
    h("summary", {}, "Show as table", h("span", { class: "unseen" }, `: ${title}`)),
    h(
      "div",
      { class: "table-scroll" },
      h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Time"), ...heads)), body),
    ),
  );
}

/**
 * @param {number | undefined} value
 * @param {(value: number) => string} format
 */
function formatValue(value, format) {
  return value === undefined ? "–" : format(value);
}

/** @param {number | undefined} at */
function clock(at) {
  return at === undefined ? "" : time(at).slice(5, 16);
}

/**
 * Rounds up to 1, 2 or 5 times a power of ten, so that the scale rarely changes.
 *
 * @param {number} maxValue
 */
function niceTop(maxValue) {
  if (maxValue <= 0) return 1;
  const tens = 10 ** Math.floor(Math.log10(maxValue));
  return [1, 2, 5, 10].map((step) => step * tens).find((step) => step >= maxValue) ?? maxValue;
}
