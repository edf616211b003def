// What is told beside the content: short notes that pass, and states of a whole page: nothing there yet, or something
// went wrong. Each says what to do.
import { ApiError } from "./api.js";
import { h, icon } from "./dom.js";
import { icons } from "./icons.js";

const noteMilliseconds = 6000;

/**
 * A short note; what went wrong stays until it is closed.
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
 * Instead of a page that could not be shown.
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
 * @param {...(Node | string)} rest what to do
 */
export function empty(title, ...rest) {
  return h("div", { class: "state" }, h("h2", {}, title), h("p", {}, ...rest));
}

/**
 * @param {unknown} error
 * @returns {string[]}
 */
export function errorMessages(error) {
  if (error instanceof ApiError)
    return error.hint === undefined ? [error.message] : [error.message, error.hint];
  console.error(error);
  return ["Something went wrong in this page.", "Load it again; the browser's console tells more."];
}

/** @param {unknown} error */
export function isAbort(error) {
  return error instanceof DOMException && error.name === "AbortError";
}
