// Inputs of rules with several parts: tags, ages of noncurrent versions, and the end of a lock.
import { h } from "../elements/dom.js";
import { dateFrom, numberFrom } from "../pages/rule-fields.js";

/** @typedef {{ input: HTMLElement, element: HTMLElement, value: () => unknown }} RuleInput */
/** @typedef {Record<string, unknown>} InputProps properties of the first input */

/**
 * One tag per line, as name=value.
 *
 * @param {unknown} initial
 * @param {InputProps} props
 * @returns {RuleInput}
 */
export function tagsInput(initial, props) {
  const tags = /** @type {readonly [string, string][] | undefined} */ (initial) ?? [];
  const text = tags.map(([name, value]) => `${name}=${value}`).join("\n");
  const area = h("textarea", { ...props, rows: 2, value: text });
  const value = () =>
    area.value
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "")
      .map((line) => {
        const at = line.indexOf("=");
        return at === -1 ? [line, ""] : [line.slice(0, at), line.slice(at + 1)];
      });
  return { input: area, element: area, value };
}

/**
 * @param {unknown} initial
 * @param {InputProps} props
 * @param {string} label
 * @returns {RuleInput}
 */
export function noncurrentInput(initial, props, label) {
  const { days, keep } = /** @type {{ days?: number, keep?: number }} */ (initial ?? {});
  const daysInput = h("input", { ...props, inputmode: "numeric", placeholder: "never", value: days ?? "" });
  const keepInput = h("input", {
    ...{ inputmode: "numeric", placeholder: "none", value: keep ?? "", autocomplete: "off" },
    ...{ "aria-label": `${label}: newest versions to keep`, "aria-describedby": props["aria-describedby"] },
  });
  const value = () => {
    const parsed = { days: numberFrom(daysInput.value), keep: numberFrom(keepInput.value) };
    if (parsed.days === undefined && parsed.keep === undefined) return undefined;
    return { ...parsed, days: parsed.days ?? null };
  };
  const element = h("div", { class: "joined" }, daysInput, h("span", {}, "days, keep"), keepInput);
  return { input: daysInput, element, value };
}

const daySeconds = 24 * 3600;

/**
 * @param {unknown} initial
 * @param {InputProps} props
 * @returns {RuleInput}
 */
export function lockInput(initial, props) {
  const condition = /** @type {{ kind?: string, seconds?: number, date?: number }} */ (initial ?? {});
  const kind = h(
    "select",
    props,
    h("option", { value: "age" }, "For days after each write"),
    h("option", { value: "date" }, "Until a date (UTC)"),
    h("option", { value: "indefinite" }, "Until the rule is removed"),
  );
  kind.value = condition.kind ?? "age";
  const end = h("input", {
    ...{ value: endText(condition), autocomplete: "off", spellcheck: "false" },
    "aria-describedby": props["aria-describedby"],
  });
  function update() {
    end.hidden = kind.value === "indefinite";
    end.setAttribute("aria-label", kind.value === "date" ? "Date" : "Days");
    end.placeholder = kind.value === "date" ? "2027-01-31" : "30";
  }
  kind.addEventListener("input", () => {
    end.value = "";
    update();
  });
  update();
  return {
    input: kind,
    element: h("div", { class: "stacked" }, kind, end),
    value: () => parseCondition(kind.value, end.value.trim()),
  };
}

/** @param {{ kind?: string, seconds?: number, date?: number }} condition */
function endText({ kind, seconds, date }) {
  if (kind === "age" && seconds !== undefined) return String(seconds / daySeconds);
  if (kind !== "date" || date === undefined) return "";
  // A date of another client can have a time, which an edit of other fields must not change.
  return new Date(date).toISOString().replace("T00:00:00.000Z", "");
}

/**
 * @param {string} kind
 * @param {string} text
 */
function parseCondition(kind, text) {
  if (kind === "indefinite") return { kind };
  if (kind === "date") return { kind, date: dateFrom(text) };
  return { kind, seconds: /^\d+(\.\d+)?$/.test(text) ? Math.round(Number(text) * daySeconds) : null };
}
