// Time ranges of charts.

const hour = 3_600_000;

/** @typedef {{ label: string, name: string, milliseconds: number }} TimeRange */

/** @type {Readonly<Record<string, TimeRange>>} */
export const ranges = {
  hour: { label: "1 h", name: "the last hour", milliseconds: hour },
  day: { label: "24 h", name: "the last 24 hours", milliseconds: 24 * hour },
  week: { label: "7 d", name: "the last 7 days", milliseconds: 7 * 24 * hour },
  month: { label: "30 d", name: "the last 30 days", milliseconds: 30 * 24 * hour },
};

/** How often open charts load new values. */
export const refreshMilliseconds = 10_000;

/**
 * The range that the page's address names; default: a day.
 *
 * @param {URLSearchParams} params
 */
export function spanOf(params) {
  const span = params.get("span") ?? "";
  return Object.hasOwn(ranges, span) ? span : "day";
}

/**
 * Whether a table is open or a chart has the focus: redrawing the charts would close it.
 *
 * @param {HTMLElement} charts
 */
export function isUsed(charts) {
  return charts.querySelector("details[open], .cursor") !== null || charts.contains(document.activeElement);
}
