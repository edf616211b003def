// The filter of the audit log: words, kind of action, and time.
import { h } from "../elements/dom.js";

const kinds = {
  "": "All actions",
  deletions: "Deletions",
  creations: "Creations",
  changes: "Changes",
  "sign-ins": "Sign-ins",
  denials: "Denied requests",
};
const typingMilliseconds = 250;

/**
 * @param {URLSearchParams} params
 * @param {(search: string) => void} onChange called with the filter as a query
 */
export function auditFilters(params, onChange) {
  const text = h("input", {
    ...{ id: "audit-text", type: "search", autocomplete: "off", spellcheck: "false" },
    ...{ placeholder: "deleted photos, anna, 10.0.0.7 …", value: params.get("text") ?? "" },
  });
  const kind = h(
    "select",
    { id: "audit-kind" },
    ...Object.entries(kinds).map(([value, name]) =>
      h("option", { value, selected: value === (params.get("kind") ?? "") }, name),
    ),
  );
  const since = h("input", { id: "audit-since", type: "date", value: params.get("since") ?? "" });
  const until = h("input", { id: "audit-until", type: "date", value: params.get("until") ?? "" });
  const controls = { text, kind, since, until };

  function search() {
    const chosen = new URLSearchParams();
    for (const [name, { value }] of Object.entries(controls)) if (value !== "") chosen.set(name, value);
    return chosen.toString();
  }

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  text.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => onChange(search()), typingMilliseconds);
  });
  for (const control of [kind, since, until]) control.addEventListener("change", () => onChange(search()));

  return {
    element: h(
      "form",
      {
        ...{ class: "filter-bar", role: "search", "aria-label": "Filter of the audit log" },
        /** @param {Event} event */
        onsubmit(event) {
          event.preventDefault();
          clearTimeout(timer);
          onChange(search());
        },
      },
      field("Who or what", text, "wide search-field"),
      field("Kind", kind, "whole"),
      field("From", since),
      field("To", until),
    ),
    focus: () => text.focus(),
    isFiltered: () => search() !== "",
    query: () => ({
      ...{ text: text.value.trim() || undefined, kind: kind.value || undefined },
      ...{ since: toTime(since.value, "00:00"), until: toTime(until.value, "23:59:59.999") },
    }),
  };
}

/**
 * @param {string} label
 * @param {HTMLInputElement | HTMLSelectElement} control
 * @param {string} [more] class
 */
function field(label, control, more = "") {
  return h("div", { class: `field ${more}`.trim() }, h("label", { for: control.id }, label), control);
}

/**
 * @param {string} day
 * @param {string} clock local time
 */
function toTime(day, clock) {
  const time = Date.parse(`${day}T${clock}`);
  return Number.isNaN(time) ? undefined : time;
}
