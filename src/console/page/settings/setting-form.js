// Form for one setting of a bucket, as a card with a Save button.
import { ApiError, ask } from "../client/api.js";
import { h } from "../elements/dom.js";
import { errorMessages, note, noteFailure } from "../elements/notices.js";

/** @import { ChangedDocument, SettingKind } from "../../wire-settings.ts" */

/**
 * @typedef {object} SettingFormOptions
 * @property {string} bucket
 * @property {SettingKind} kind
 * @property {string} title
 * @property {string} about
 * @property {(Node | undefined)[]} content
 * @property {string} seen mark of the loaded setting
 * @property {() => object} value fields of the request
 * @property {() => boolean} [canSave]
 * @property {() => void} [saved]
 * @property {HTMLElement} [errorFor] input that an error of the server is about
 * @property {AbortSignal} signal
 */

/** @param {SettingFormOptions} options */
export function settingForm(options) {
  const {
    bucket,
    kind,
    title,
    about,
    content,
    value,
    canSave = () => true,
    saved,
    errorFor,
    signal,
  } = options;
  let { seen } = options;
  const statusText = h("p", { class: "quiet", role: "status" });
  const errorText = h("p", { class: "error-text", role: "alert", id: `${kind}-error` });
  const save = h(
    "button",
    { class: "primary", type: "submit", "aria-label": `Save ${title}`, disabled: true },
    "Save",
  );

  function changed() {
    save.disabled = !canSave();
    statusText.textContent = save.disabled ? "" : "Not saved yet.";
    setError("");
  }

  /** @param {string} text */
  function setError(text) {
    errorText.textContent = text;
    if (text === "") errorFor?.removeAttribute("aria-invalid");
    else errorFor?.setAttribute("aria-invalid", "true");
  }

  /** @param {unknown} error */
  function fail(error) {
    // The user can correct what was refused, so the reason stays beside it.
    if (error instanceof ApiError && (error.status === 400 || error.status === 409))
      setError(errorMessages(error).join(" "));
    else noteFailure(error);
  }

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    /** @type {ChangedDocument} */
    const done = await ask("/api/settings", {
      method: "PUT",
      query: { bucket, kind },
      json: { ...value(), seen },
      signal,
    });
    seen = done.seen;
    save.disabled = true;
    statusText.textContent = "";
    setError("");
    note(`Saved ${title} of ${bucket}.`);
    saved?.();
  }

  const element = h(
    "form",
    {
      class: "card editor",
      novalidate: true,
      "aria-label": title,
      oninput: changed,
      onsubmit: (/** @type {Event} */ event) => void submit(event).catch(fail),
    },
    h("div", {}, h("h2", {}, title), h("p", { class: "quiet" }, about)),
    ...content,
    errorText,
    h("div", { class: "actions" }, statusText, save),
  );
  return { element, changed };
}
