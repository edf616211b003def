// Input for one field of a rule, with its help and error text.
import { h } from "../elements/dom.js";
import { lockInput, noncurrentInput, tagsInput } from "../settings/rule-inputs.js";
import { numberFrom, whenFrom, whenText } from "./rule-fields.js";

/** @import { Field } from "./rule-fields.js" */

/**
 * @typedef {object} ControlOptions
 * @property {Field} field
 * @property {unknown} value
 * @property {string} id
 * @property {() => void} changed
 */

/** @param {ControlOptions} options */
export function createControl({ field, value: initial, id, changed }) {
  const { name, label, kind, help } = field;
  const words =
    help ??
    (kind === "days or date" ? "A number of days, such as 30, or a date, such as 2027-01-31." : undefined);
  const errorText = h("p", { id: `${id}-error`, class: "error-text" });
  const helpText = words === undefined ? undefined : h("p", { id: `${id}-help`, class: "quiet" }, words);
  const described = `${id}-error${words === undefined ? "" : ` ${id}-help`}`;
  const { input, value, element } = createInput(field, initial, { id, described });
  element.addEventListener("input", changed);
  return {
    name,
    value,
    focus: () => input.focus(),
    element: h(
      "div",
      { class: "field" },
      kind === "choices" ? undefined : h("label", { for: id }, label),
      element,
      helpText,
      errorText,
    ),
    /** @param {string | undefined} message */
    showError(message) {
      errorText.textContent = message ?? "";
      if (message === undefined) input.removeAttribute("aria-invalid");
      else input.setAttribute("aria-invalid", "true");
    },
  };
}

/**
 * @param {Field} field
 * @param {unknown} initial
 * @param {{ id: string, described: string }} names
 * @returns {{ input: HTMLElement, element: HTMLElement, value: () => unknown }}
 */
function createInput({ kind, label, choices = [] }, initial, { id, described }) {
  const common = { id, autocomplete: "off", spellcheck: "false", "aria-describedby": described };
  if (kind === "flag") {
    const box = h("input", { ...common, type: "checkbox", checked: initial === true });
    return { input: box, element: box, value: () => box.checked };
  }
  if (kind === "lines") {
    const lines = /** @type {readonly string[] | undefined} */ (initial) ?? [];
    const area = h("textarea", { ...common, rows: 3, value: lines.join("\n") });
    const value = () =>
      area.value
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "");
    return { input: area, element: area, value };
  }
  if (kind === "choices") {
    const chosen = /** @type {readonly string[] | undefined} */ (initial) ?? [];
    const boxes = choices.map((choice) => ({
      choice,
      box: h("input", { type: "checkbox", checked: chosen.includes(choice), "aria-describedby": described }),
    }));
    const rows = boxes.map(({ choice, box }) => h("label", { class: "choice" }, box, choice));
    const element = h("fieldset", { class: "choices" }, h("legend", {}, label), ...rows);
    const value = () => boxes.filter(({ box }) => box.checked).map(({ choice }) => choice);
    return { input: boxes[0]?.box ?? element, element, value };
  }
  if (kind === "tags") return tagsInput(initial, common);
  if (kind === "noncurrent") return noncurrentInput(initial, common, label);
  if (kind === "lock") return lockInput(initial, common);
  if (kind === "days or date") {
    const input = h("input", { ...common, value: whenText(initial), placeholder: "never" });
    return { input, element: input, value: () => whenFrom(input.value) };
  }
  const input = h("input", { ...common, value: initial === undefined ? "" : String(initial) });
  if (kind === "number") input.inputMode = "numeric";
  return { input, element: input, value: () => (kind === "number" ? numberFrom(input.value) : input.value) };
}
