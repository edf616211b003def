// A read-only field with a button that copies its value, for secrets that are shown once.
import { h, icon } from "./dom.js";
import { icons } from "./icons.js";
import { note } from "./notices.js";

/**
 * @param {string} name
 * @param {string} value
 */
export function copyField(name, value) {
  const id = `copy-${name.replaceAll(" ", "-").toLowerCase()}`;
  const field = h("input", { id, class: "mono", readonly: true, value });
  const copy = async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(value);
      note(`Copied the ${name.toLowerCase()}.`);
    } catch {
      note(
        "The browser blocked access to the clipboard. The text is selected: copy it with the keyboard.",
        "failed",
      );
    }
  };
  const button = h(
    "button",
    { type: "button", "aria-label": `Copy the ${name.toLowerCase()}`, onclick: () => void copy() },
    icon(icons.copy),
  );
  return h(
    "div",
    { class: "field" },
    h("label", { for: id }, name),
    h("div", { class: "with-button" }, field, button),
  );
}

/**
 * A block of commands with a button that copies them.
 *
 * @param {string} text
 * @param {string} what
 */
export function snippet(text, what) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      note(`Copied the ${what}.`);
    } catch {
      note("The browser blocked access to the clipboard. Select the text and copy it.", "failed");
    }
  };
  return h(
    "div",
    { class: "field snippet-field" },
    h("pre", { class: "snippet" }, text),
    h(
      "button",
      { class: "small own-width", type: "button", onclick: () => void copy() },
      icon(icons.copy),
      `Copy the ${what}`,
    ),
  );
}
