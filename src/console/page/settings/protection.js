// Forms for the versioning and the Object Lock of a bucket. Each depends on the other, so both are
// loaded again after a change.
import { ask } from "../client/api.js";
import { h } from "../elements/dom.js";
import { noteFailure } from "../elements/notices.js";
import { numberFrom } from "../pages/rule-fields.js";
import { settingForm } from "./setting-form.js";

/** @import { SettingsDocument } from "../../wire-settings.ts" */

/**
 * @param {string} bucket
 * @param {SettingsDocument} settings
 * @param {AbortSignal} signal
 */
export function protectionForms(bucket, settings, signal) {
  const area = h("div", {});
  /** @param {SettingsDocument} current */
  function show(current) {
    const options = { bucket, settings: current, saved: () => void reload().catch(noteFailure), signal };
    area.replaceChildren(versioningForm(options), objectLockForm(options));
  }
  async function reload() {
    show(await ask("/api/settings", { query: { bucket }, signal }));
  }
  show(settings);
  return area;
}

/**
 * @typedef {object} FormOptions
 * @property {string} bucket
 * @property {SettingsDocument} settings
 * @property {() => void} saved
 * @property {AbortSignal} signal
 */

/** @param {FormOptions} options */
function versioningForm({ bucket, settings, saved, signal }) {
  const { versioning, objectLock, seen } = settings;
  const isOff = versioning === "off";
  const choice = h(
    "select",
    { id: "versioning", "aria-describedby": "versioning-help" },
    h("option", { value: "off", disabled: !isOff }, "Off"),
    h("option", { value: "on" }, "On"),
    h("option", { value: "suspended", disabled: isOff || objectLock.isEnabled }, "Suspended"),
  );
  choice.value = versioning;
  const help = isOff
    ? "Once turned on, versioning cannot be turned off again, only suspended."
    : "Versioning cannot be turned off again. While it is suspended, existing versions are kept.";
  const { element } = settingForm({
    ...{ bucket, kind: "versioning", title: "Versioning", seen: seen.versioning, saved, signal },
    about: "Keep the earlier versions of objects that are replaced or deleted, so that they can be restored.",
    content: [
      h(
        "div",
        { class: "field short" },
        h("label", { for: "versioning" }, "State"),
        choice,
        h("p", { id: "versioning-help", class: "quiet" }, help),
      ),
    ],
    value: () => ({ versioning: choice.value }),
  });
  return element;
}

/** @param {FormOptions} options */
function objectLockForm({ bucket, settings, saved, signal }) {
  const { isEnabled, defaultRetention } = settings.objectLock;
  const enabled = h("input", {
    ...{ id: "object-lock", type: "checkbox", checked: isEnabled, disabled: isEnabled },
    "aria-describedby": "object-lock-help",
  });
  const mode = h(
    "select",
    { id: "retention-mode", "aria-describedby": "retention-help" },
    h("option", { value: "" }, "None"),
    h("option", { value: "governance" }, "Governance"),
    h("option", { value: "compliance" }, "Compliance"),
  );
  mode.value = defaultRetention?.mode ?? "";
  const days = h("input", {
    ...{ id: "retention-days", inputmode: "numeric", autocomplete: "off" },
    value: defaultRetention === null ? "" : String(defaultRetention.days),
  });
  function update() {
    mode.disabled = !enabled.checked;
    days.disabled = mode.disabled || mode.value === "";
  }
  update();
  const { element } = settingForm({
    ...{ bucket, kind: "objectLock", title: "Object Lock", seen: settings.seen.objectLock, saved, signal },
    about: "Lock single versions until a date, or by a legal hold, as in S3.",
    content: [
      h(
        "div",
        { class: "field" },
        h("label", { class: "choice" }, enabled, "Enable Object Lock"),
        h(
          "p",
          { id: "object-lock-help", class: "quiet" },
          isEnabled
            ? "Object Lock cannot be removed from a bucket, and versioning stays on."
            : "This turns versioning on. Object Lock cannot be removed again.",
        ),
      ),
      h(
        "div",
        { class: "rule-grid" },
        h(
          "div",
          { class: "field" },
          h("label", { for: "retention-mode" }, "Default retention"),
          mode,
          h(
            "p",
            { id: "retention-help", class: "quiet" },
            "Governance can be bypassed with a special right, compliance by no one.",
          ),
        ),
        h("div", { class: "field" }, h("label", { for: "retention-days" }, "Retention in days"), days),
      ),
    ],
    canSave: () => enabled.checked,
    value: () => ({
      defaultRetention: mode.value === "" ? null : { mode: mode.value, days: numberFrom(days.value) },
    }),
  });
  element.addEventListener("input", update);
  return element;
}
