// A line chart over time, as SVG with HTML labels: axes, a tooltip, and for accessibility a text
// summary and a table.
import { h } from "../elements/dom.js";
import { time } from "../elements/format.js";
import { drawLines } from "./lines.js";
import { niceTop, timeTicks } from "./scale.js";
import { addTooltip } from "./tooltip.js";

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
 * @property {(maxValue: number) => number} [top] rounds the upper end of the scale
 * @property {number} [from] left end of the axis of time; default: the first time
 * @property {number} [until] right end of the axis of time; default: the last time
 */

/** @param {ChartOptions} options */
export function chart(options) {
  const { title, times, lines: drawn, format, top: roundUp = niceTop } = options;
  const { from = times[0] ?? 0, until = times.at(-1) ?? 1 } = options;
  const maxValue = Math.max(0, ...drawn.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const top = roundUp(maxValue);
  /** @param {number | undefined} value */
  const shown = (value) => (value === undefined ? "–" : format(value));
  const latest = drawn.map(({ name, values }) => `${name} ${shown(values.at(-1))}`).join(", ");
  const svg = drawLines({ times, drawn, top, from, until });
  svg.setAttribute("aria-hidden", "true");
  const plot = h(
    "div",
    {
      ...{ class: "plot", role: "img", tabindex: 0 },
      "aria-label": `${title}: ${latest}; maximum ${format(maxValue)}. Arrow keys show the values at a time.`,
    },
    svg,
  );
  addTooltip(plot, { times, lines: drawn, format: shown, from, until });
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
          { class: `key-${i + 1}` },
          h("span", { class: "swatch", "aria-hidden": "true" }),
          `${name} `,
          h("strong", {}, shown(values.at(-1))),
        ),
      ),
    ),
    h(
      "div",
      { class: "axes" },
      h(
        "div",
        { class: "y-axis", "aria-hidden": "true" },
        ...[top, top / 2, 0].map((value) => h("span", {}, format(value))),
      ),
      plot,
      timeAxis(from, until),
    ),
    table({ title, times, lines: drawn, format: shown }),
  );
}

/**
 * @param {number} from
 * @param {number} until
 */
function timeAxis(from, until) {
  const span = Math.max(1, until - from);
  return h(
    "div",
    { class: "x-axis", "aria-hidden": "true" },
    ...timeTicks(from, until).flatMap(({ time: at, label }) => {
      const share = (at - from) / span;
      // A label at an end would be cut.
      if (share < 0.09 || share > 0.91) return [];
      const tick = h("span", {}, label);
      tick.style.left = `${share * 100}%`;
      return [tick];
    }),
  );
}

/** Number of latest values in the table. */
const rowsShown = 20;

/** @param {{ title: string, times: number[], lines: Line[], format: (value: number | undefined) => string }} options */
function table({ title, times, lines: drawn, format }) {
  const body = h("tbody", {});
  for (let i = times.length - 1; i >= Math.max(0, times.length - rowsShown); i--) {
    const cells = drawn.map(({ values }) => h("td", { class: "number" }, format(values[i])));
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
