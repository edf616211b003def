// Dialogs, built on the browser's <dialog>, which traps the focus and closes on Escape.
import { h } from "./dom.js";
import { focusAgain } from "./focus.js";
import { errorMessages } from "./notices.js";

/**
 * @typedef {object} FormOptions
 * @property {string} title
 * @property {(Node | string)[]} content
 * @property {string} submit label of the submit button
 * @property {boolean} [danger]
 * @property {() => Promise<void>} run called on submit; the dialog shows its errors and stays open
 */

/** @param {FormOptions} options */
export function openForm({ title, content, submit, danger = false, run }) {
  const errorText = h("p", { class: "error-text", role: "alert" });
  const button = h("button", { class: danger ? "danger" : "primary", type: "submit" }, submit);
  const cancel = h("button", { type: "button", onclick: () => dialog.close() }, "Cancel");
  const form = h(
    "form",
    {
      method: "dialog",
      /** @param {Event} event */
      async onsubmit(event) {
        event.preventDefault();
        button.disabled = true;
        errorText.replaceChildren();
        try {
          await run();
          dialog.close();
        } catch (error) {
          errorText.replaceChildren(errorMessages(error).join(" "));
          button.disabled = false;
        }
      },
    },
    h("h2", { id: "dialog-title" }, title),
    ...content,
    errorText,
    h("div", { class: "actions" }, cancel, button),
  );
  const dialog = openDialog(form);
  return { dialog, button };
}

/** @param {Node} content must contain a heading with the id `dialog-title` */
export function openDialog(content) {
  const previousFocus = document.activeElement;
  const dialog = h("dialog", { "aria-labelledby": "dialog-title" }, content);
  dialog.addEventListener("close", () => {
    dialog.remove();
    focusAgain(previousFocus);
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/**
 * Confirms an irreversible action: the user must type `name` to continue.
 *
 * @param {FormOptions & { name: string }} options
 */
export function openConfirmation({ name, content, ...options }) {
  const input = h("input", { id: "typed-name", autocomplete: "off", spellcheck: "false", required: true });
  const label = h("label", { for: "typed-name" }, "Type ", h("strong", {}, name), " to continue");
  const opened = openForm({ ...options, danger: true, content: [...content, label, input] });
  opened.button.disabled = true;
  input.addEventListener("input", () => {
    opened.button.disabled = input.value !== name;
  });
  input.focus();
  return opened;
}
