// Fields of lifecycle, lock and CORS rules: labels, types of input, and conversion.

/** @typedef {Record<string, unknown>} Rule a rule as JSON */

/**
 * @typedef {object} Field
 * @property {string} name field name in the server's error messages
 * @property {string} label
 * @property {"text" | "number" | "days or date" | "lines" | "flag" | "choices" | "tags" | "noncurrent" | "lock"} kind
 * @property {string} [help]
 * @property {readonly string[]} [choices]
 */

/** @type {readonly Field[]} */
export const lifecycleFields = [
  { name: "id", label: "Name", kind: "text" },
  { name: "isEnabled", label: "Enabled", kind: "flag" },
  { name: "prefix", label: "Key prefix", kind: "text", help: "Leave empty for all keys." },
  { name: "expire", label: "Delete objects", kind: "days or date" },
  { name: "transition", label: "Move to infrequent access", kind: "days or date" },
  { name: "abortUploadsAfter", label: "Abort incomplete uploads after days", kind: "number" },
  { name: "largerThan", label: "Minimum size in bytes (exclusive)", kind: "number" },
  { name: "smallerThan", label: "Maximum size in bytes (exclusive)", kind: "number" },
  {
    name: "tags",
    label: "Tags",
    kind: "tags",
    help: "One per line, such as team=blue. Only objects that have all of them.",
  },
  {
    name: "expireNoncurrent",
    label: "Delete noncurrent versions",
    kind: "noncurrent",
    help: "Days since a version was replaced, and how many of the newest to keep anyway.",
  },
  {
    name: "transitionNoncurrent",
    label: "Move noncurrent versions to infrequent access",
    kind: "noncurrent",
  },
  {
    name: "expireMarkers",
    label: "Remove delete markers",
    kind: "flag",
    help: "Only markers of objects without any versions left.",
  },
];

/** @type {readonly Field[]} */
export const lockFields = [
  { name: "id", label: "Name", kind: "text" },
  { name: "isEnabled", label: "Enabled", kind: "flag" },
  { name: "prefix", label: "Key prefix", kind: "text", help: "Leave empty for all keys." },
  { name: "condition", label: "Locked", kind: "lock" },
];

/** @type {readonly Field[]} */
export const corsFields = [
  { name: "id", label: "Name", kind: "text" },
  { name: "origins", label: "Origins", kind: "lines", help: "One per line, such as https://*.example.com" },
  {
    name: "methods",
    label: "Methods",
    kind: "choices",
    choices: ["GET", "PUT", "POST", "DELETE", "HEAD"],
  },
  { name: "headers", label: "Request headers", kind: "lines", help: "One per line; * for all." },
  { name: "exposed", label: "Exposed response headers", kind: "lines", help: "One per line." },
  { name: "maxAgeSeconds", label: "Max age in seconds", kind: "number" },
];

/**
 * Parses a typed number. Invalid text is sent as null, which the server reports.
 *
 * @param {string} text
 */
export function numberFrom(text) {
  const typed = text.trim();
  if (typed === "") return undefined;
  return /^-?\d+$/.test(typed) ? Number(typed) : null;
}

/**
 * Parses `30` as days, `2027-01-31` as a date.
 *
 * @param {string} text
 */
export function whenFrom(text) {
  const typed = text.trim();
  if (typed === "") return undefined;
  if (!/^\d{4}-/.test(typed)) return { days: numberFrom(typed) };
  return { date: dateFrom(typed) };
}

/**
 * Parses a date, or a time in ISO 8601. Null for a day that no month has, such as 2026-11-31, for
 * which `Date.parse` returns a day of the next month.
 *
 * @param {string} text
 */
export function dateFrom(text) {
  const [day = ""] = /^\d{4}-\d\d-\d\d/.exec(text) ?? [];
  const [start, time] = [Date.parse(day), Date.parse(text)];
  if (Number.isNaN(start) || Number.isNaN(time)) return null;
  return new Date(start).toISOString().startsWith(day) ? time : null;
}

/** @param {unknown} when */
export function whenText(when) {
  const { days, date } = /** @type {{ days?: number, date?: number }} */ (when ?? {});
  if (date !== undefined) return new Date(date).toISOString().slice(0, 10);
  return days === undefined ? "" : String(days);
}
