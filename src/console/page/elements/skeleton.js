// Placeholders in the shape of a page that is loading. They are shown only if loading takes a while.
import { h } from "./dom.js";

/** Later than most answers, so that fast pages do not flicker. */
export const skeletonMilliseconds = 150;

/** @param {number} rows */
export function skeletonRows(rows = 5) {
  return h(
    "div",
    { class: "card skeletons", "aria-hidden": "true" },
    ...Array.from({ length: rows }, (_, i) => {
      const line = h("span", { class: "skeleton" });
      line.style.width = `${[92, 78, 85, 64, 88][i % 5]}%`;
      return line;
    }),
  );
}

/** @param {string} title */
export function skeletonPage(title) {
  return h(
    "div",
    {},
    h("div", { class: "page-head" }, h("h1", {}, title)),
    h("p", { class: "unseen", role: "status" }, "Loading…"),
    skeletonRows(6),
  );
}
