// The lines of a chart, in an SVG that stretches to its container.

/** @import { Line } from "./chart.js" */

const svgSpace = "http://www.w3.org/2000/svg";
const width = 600;
const height = 160;

/**
 * @typedef {object} LinesOptions
 * @property {number[]} times
 * @property {Line[]} drawn
 * @property {number} top value at the upper edge of the chart; the lower edge is 0
 * @property {number} from time at the left edge
 * @property {number} until time at the right edge
 */

/**
 * @param {LinesOptions} options
 * @returns {SVGSVGElement}
 */
export function drawLines({ times, drawn, top, from, until }) {
  const svg = document.createElementNS(svgSpace, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("preserveAspectRatio", "none");
  for (const share of [0, 0.5, 1]) svg.append(path("grid", `M0 ${share * height}H${width}`));
  const span = Math.max(1, until - from);
  /** @param {number} i */
  const across = (i) => Math.max(0, (((times[i] ?? from) - from) / span) * width);
  for (const [index, { values }] of drawn.entries()) {
    const runs = findRuns(values, across, top);
    if (drawn.length === 1) svg.append(path(`area area-${index + 1}`, runs.map(areaData).join("")));
    svg.append(path(`line line-${index + 1}`, runs.map(lineData).join("")));
    const short = runs.filter(isShort).map((run) => run.slice(-1));
    if (short.length > 0) svg.append(path(`line line-${index + 1} dot`, short.map(lineData).join("")));
  }
  return svg;
}

/** @typedef {{ x: number, y: number }[]} Run Points without a gap between them. */

/**
 * Whether a line through these points could hardly be seen. An upright line can.
 * @param {Run} run
 */
function isShort(run) {
  const across = run.map(({ x }) => x);
  const down = run.map(({ y }) => y);
  const extent = Math.max(...across) - Math.min(...across) + Math.max(...down) - Math.min(...down);
  return extent < 4;
}

/**
 * @param {(number | undefined)[]} values
 * @param {(i: number) => number} across
 * @param {number} top
 */
function findRuns(values, across, top) {
  /** @type {Run[]} */
  const runs = [];
  let isGap = true;
  for (const [i, value] of values.entries()) {
    if (value !== undefined) {
      if (isGap) runs.push([]);
      runs.at(-1)?.push({ x: across(i), y: height - (Math.min(value, top) / top) * height });
    }
    isGap = value === undefined;
  }
  return runs;
}

/** A value between gaps becomes a dot. @param {Run} run */
function lineData(run) {
  return run
    .map(({ x, y }, i) => `${i === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}${i === 0 ? "h0" : ""}`)
    .join("");
}

/** @param {Run} run */
function areaData(run) {
  const [first, last] = [run[0], run.at(-1)];
  if (first === undefined || last === undefined) return "";
  const line = run.map(({ x, y }) => `L${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  return `M${first.x.toFixed(1)} ${height}${line}L${last.x.toFixed(1)} ${height}Z`;
}

/**
 * @param {string} name
 * @param {string} drawn
 */
function path(name, drawn) {
  const element = document.createElementNS(svgSpace, "path");
  element.setAttribute("class", name);
  element.setAttribute("d", drawn);
  return element;
}
