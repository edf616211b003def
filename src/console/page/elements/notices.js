// Toasts, and the empty and error states of a whole page. Each text says what to do next.
import { ApiError } from "../client/api.js";
import { h, icon } from "./dom.js";
import { icons } from "./icons.js";

const noteMilliseconds = 6000;

/**
 * Shows a toast. A failure stays until the user closes it.
 *
 * @param {string} text
 * @param {"done" | "failed"} [kind]
 */
export function note(text, kind = "done") {
  const container = document.getElementById("toasts");
  const close = () => toast.remove();
  const button = h(
    "button",
    { class: "tool", type: "button", "aria-label": "Close", onclick: close },
    icon(icons.close),
  );
  const toast = h("div", { class: `toast ${kind}` }, h("span", {}, text), button);
  container?.append(toast);
  if (kind === "done") setTimeout(close, noteMilliseconds);
}

/** @param {unknown} error */
export function noteFailure(error) {
  if (isAbort(error)) return;
  note(errorMessages(error).join(" "), "failed");
}

/**
 * Creates the content that replaces a page that failed to load.
 *
 * @param {unknown} error
 * @param {() => void} retry
 */
export function failure(error, retry) {
  const [message = "", hint] = errorMessages(error);
  return h(
    "div",
    { class: "state", role: "alert" },
    icon(icons.warning),
    h("h1", {}, message),
    hint === undefined ? undefined : h("p", {}, hint),
    h("button", { type: "button", onclick: retry }, "Try again"),
  );
}

/**
 * @param {string} title
 * @param {...(Node | string)} rest text that says what to do
 */
export function empty(title, ...rest) {
  return h("div", { class: "state" }, h("h2", {}, title), h("p", {}, ...rest));
}

/**
 * Creates the empty state of a whole page, as a card.
 *
 * @param {string} title
 * @param {...(Node | string)} rest
 */
export function emptyCard(title, ...rest) {
  return h("div", { class: "card" }, empty(title, ...rest));
}

/**
 * Creates an empty state that teaches: what the thing is for, and the first step.
 *
 * @param {object} options
 * @param {keyof typeof icons} options.icon
 * @param {string} options.title
 * @param {(Node | string)[]} options.text
 * @param {(Node | undefined)[]} [options.actions]
 */
export function firstStep({ icon: name, title, text, actions = [] }) {
  return h(
    "div",
    { class: "card" },
    h(
      "div",
      { class: "state" },
      icon(icons[name]),
      h("h2", {}, title),
      h("p", {}, ...text),
      actions.length === 0 ? undefined : h("div", { class: "actions" }, ...actions),
    ),
  );
}

/**
 * @param {unknown} error
 * @returns {string[]}
 */
export function errorMessages(error) {
  if (error instanceof ApiError)
    return error.hint === undefined ? [error.message] : [error.message, error.hint];
  console.error(error);
  return ["This page failed.", "Reload it; the browser's developer console shows details."];
}

/** @param {unknown} error */
export function isAbort(error) {
  return error instanceof DOMException && error.name === "AbortError";
}
