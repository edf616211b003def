// Tabs of a page, as links: every tab has an address.
import { h } from "./dom.js";

/**
 * @typedef {object} Tab
 * @property {string} id
 * @property {string} label
 * @property {string} href
 */

/**
 * @param {string} label
 * @param {readonly Tab[]} all
 * @param {string} current id of the open tab
 */
export function tabs(label, all, current) {
  return h(
    "nav",
    { class: "tabs", "aria-label": label },
    h(
      "ul",
      {},
      ...all.map(({ id, label: name, href }) =>
        h("li", {}, h("a", { href, "aria-current": id === current ? "page" : undefined }, name)),
      ),
    ),
  );
}

/**
 * A row of choices of which one is chosen, such as a time range.
 *
 * @param {string} label
 * @param {readonly { id: string, label: string, href: string }[]} all
 * @param {string} current
 */
export function segments(label, all, current) {
  return h(
    "div",
    { class: "segments", role: "group", "aria-label": label },
    ...all.map(({ id, label: name, href }) =>
      h("a", { href, "aria-current": id === current ? "true" : undefined }, name),
    ),
  );
}
