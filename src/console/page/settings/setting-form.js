// Form for one setting of a bucket, as a card with a Save button.
import { ask } from "../client/api.js";
import { h } from "../elements/dom.js";
import { note, noteFailure } from "../elements/notices.js";

/** @import { ChangedDocument } from "../../wire-types.ts" */

/**
 * @typedef {object} SettingFormOptions
 * @property {string} bucket
 * @property {"versioning" | "objectLock" | "tags" | "quota"} kind
 * @property {string} title
 * @property {string} about
 * @property {(Node | undefined)[]} content
 * @property {string} seen mark of the loaded setting
 * @property {() => object} value fields of the request
 * @property {() => boolean} [canSave]
 * @property {() => void} [saved]
 * @property {AbortSignal} signal
 */

/** @param {SettingFormOptions} options */
export function settingForm(options) {
  const { bucket, kind, title, about, content, value, canSave = () => true, saved, signal } = options;
  let { seen } = options;
  const statusText = h("p", { class: "quiet", role: "status" });
  const save = h(
    "button",
    { class: "primary", type: "submit", "aria-label": `Save ${title}`, disabled: true },
    "Save",
  );

  function changed() {
    save.disabled = !canSave();
    statusText.textContent = save.disabled ? "" : "Not saved yet.";
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
      onsubmit: (/** @type {Event} */ event) => void submit(event).catch(noteFailure),
    },
    h("div", {}, h("h2", {}, title), h("p", { class: "quiet" }, about)),
    ...content,
    h("div", { class: "actions" }, statusText, save),
  );
  return { element, changed };
}
