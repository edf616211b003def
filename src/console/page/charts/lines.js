// The lines of a chart, in an SVG that stretches to its container.

/** @import { Line } from "./chart.js" */

const svgSpace = "http://www.w3.org/2000/svg";
const width = 600;
const height = 160;

/**
 * @param {object} options
 * @param {number[]} options.times
 * @param {Line[]} options.drawn
 * @param {number} options.top value at the upper edge of the chart; the lower edge is 0
 * @returns {SVGSVGElement}
 */
export function drawLines({ times, drawn, top }) {
  const svg = document.createElementNS(svgSpace, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("preserveAspectRatio", "none");
  for (const share of [0, 0.5, 1]) svg.append(path("grid", `M0 ${share * height}H${width}`));
  const [first = 0] = times;
  const span = Math.max(1, (times.at(-1) ?? 0) - first);
  /** @param {number} i */
  const across = (i) => (((times[i] ?? first) - first) / span) * width;
  for (const [index, { values }] of drawn.entries()) {
    svg.append(path(`line line-${index + 1}`, pathData(values, across, top)));
  }
  return svg;
}

/**
 * @param {(number | undefined)[]} values
 * @param {(i: number) => number} across
 * @param {number} top
 */
function pathData(values, across, top) {
  let text = "";
  let isPenDown = false;
  for (const [i, value] of values.entries()) {
    if (value === undefined) {
      isPenDown = false;
      continue;
    }
    const x = across(i).toFixed(1);
    const y = (height - (Math.min(value, top) / top) * height).toFixed(1);
    // A value between gaps becomes a dot; if it is the only value, a line over the whole width.
    text += isPenDown ? `L${x} ${y}` : `M${x} ${y}h${values.length === 1 ? width : 0}`;
    isPenDown = true;
  }
  return text;
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
