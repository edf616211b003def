// The tooltip of a chart: the values at the time under the pointer, or at the time that the arrow
// keys have moved to.
import { h } from "../elements/dom.js";
import { time } from "../elements/format.js";

/** @import { Line } from "./chart.js" */

/**
 * @typedef {object} TooltipOptions
 * @property {number[]} times
 * @property {Line[]} lines
 * @property {(value: number | undefined) => string} format
 * @property {number} from
 * @property {number} until
 */

/**
 * Adds the tooltip to the area of a chart.
 *
 * @param {HTMLElement} plot
 * @param {TooltipOptions} options
 */
export function addTooltip(plot, { times, lines, format, from, until }) {
  if (times.length === 0) return;
  const cursor = h("div", { class: "cursor" });
  const box = h("div", { class: "tip", role: "status" });
  let index = times.length - 1;
  /** @param {number} at */
  const share = (at) => (at - from) / Math.max(1, until - from);

  /** @param {number} next */
  function show(next) {
    index = Math.max(0, Math.min(times.length - 1, next));
    const left = Math.max(0, Math.min(1, share(times[index] ?? from)));
    cursor.style.left = `${left * 100}%`;
    box.classList.toggle("left", left > 0.6);
    box.style.left = left > 0.6 ? "" : `calc(${left * 100}% + 10px)`;
    box.style.right = left > 0.6 ? `calc(${(1 - left) * 100}% + 10px)` : "";
    box.replaceChildren(
      h("span", { class: "quiet" }, time(times[index] ?? 0)),
      ...lines.map(({ name, values }, i) =>
        h(
          "span",
          { class: `key-${i + 1}` },
          h("span", { class: "swatch", "aria-hidden": "true" }),
          `${name} `,
          h("strong", {}, format(values[index])),
        ),
      ),
    );
    if (!cursor.isConnected) plot.append(cursor, box);
  }

  function hide() {
    cursor.remove();
    box.remove();
  }

  plot.addEventListener("pointermove", (event) => {
    const { left, width } = plot.getBoundingClientRect();
    show(nearest(times, from + ((event.clientX - left) / width) * (until - from)));
  });
  plot.addEventListener("pointerleave", hide);
  plot.addEventListener("blur", hide);
  plot.addEventListener("keydown", (event) => {
    /** @type {Record<string, number>} */
    const targets = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: times.length - 1 };
    const target = targets[event.key];
    if (event.key === "Escape") hide();
    if (target === undefined) return;
    event.preventDefault();
    show(target);
  });
}

/**
 * @param {number[]} times sorted
 * @param {number} at
 */
function nearest(times, at) {
  const after = times.findIndex((one) => one >= at);
  if (after <= 0) return after === 0 ? 0 : times.length - 1;
  return at - (times[after - 1] ?? 0) < (times[after] ?? 0) - at ? after - 1 : after;
}
