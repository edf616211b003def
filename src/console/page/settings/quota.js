// Form for the quota of a bucket, with what is used of it.
import { h } from "../elements/dom.js";
import { bytes, counted } from "../elements/format.js";
import { settingForm } from "./setting-form.js";

/** @import { SettingsDocument } from "../../wire-settings.ts" */

/** The units in which the console shows sizes. */
const units = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

/**
 * @param {string} bucket
 * @param {SettingsDocument} settings
 * @param {AbortSignal} signal
 */
export function quotaForm(bucket, { quota, usage, seen }, signal) {
  const fields = quotaFields(quota);
  const { element } = settingForm({
    ...{ bucket, kind: "quota", title: "Quota", seen: seen.quota, signal },
    about: "The maximum of what the bucket may contain, with all versions. Empty fields set no limit.",
    content: [
      usage === null ? undefined : h("p", { id: "quota-usage" }, usageText(usage)),
      ...fields.elements,
    ],
    value: () => ({ quota: fields.value() }),
  });
  return element;
}

/**
 * Fields for a maximum size and number of objects.
 *
 * @param {{ readonly bytes?: number | undefined, readonly objects?: number | undefined } | null} quota
 */
export function quotaFields(quota) {
  const unit = h(
    "select",
    { id: "quota-unit", "aria-label": "Unit of the maximum size" },
    ...Object.keys(units).map((name) => h("option", { value: name }, name)),
  );
  const { amount, name } = split(quota?.bytes);
  unit.value = name;
  const size = h("input", { id: "quota-bytes", inputmode: "decimal", autocomplete: "off", value: amount });
  const objects = h("input", {
    ...{ id: "quota-objects", inputmode: "numeric", autocomplete: "off" },
    value: String(quota?.objects ?? ""),
  });
  return {
    elements: [
      h(
        "div",
        { class: "field short" },
        h("label", { for: "quota-bytes" }, "Maximum size"),
        h("div", { class: "with-button" }, size, unit),
      ),
      h(
        "div",
        { class: "field short" },
        h("label", { for: "quota-objects" }, "Maximum number of objects"),
        objects,
      ),
    ],
    value() {
      const maxBytes = read(size.value, units[/** @type {keyof typeof units} */ (unit.value)]);
      const maxObjects = read(objects.value, 1);
      if (maxBytes === undefined && maxObjects === undefined) return null;
      return { bytes: maxBytes, objects: maxObjects };
    },
  };
}

/** @param {{ bytes: number, objects: number }} usage */
function usageText(usage) {
  const objects = counted(usage.objects, "object or version", "objects and versions");
  return `In use: ${bytes(usage.bytes)}, ${objects}.`;
}

/**
 * Returns the number and its largest unit without a fraction.
 *
 * @param {number | undefined} count
 */
function split(count) {
  if (count === undefined) return { amount: "", name: "GiB" };
  const [name, size] = Object.entries(units).findLast(([, size]) => count % size === 0) ?? ["B", 1];
  return count === 0 ? { amount: "0", name: "GiB" } : { amount: String(count / size), name };
}

/**
 * Returns undefined for an empty field. The server refuses what is not a number.
 *
 * @param {string} text
 * @param {number} unit
 */
function read(text, unit) {
  const typed = text.trim();
  if (typed === "") return undefined;
  return /^\d+(\.\d+)?$/.test(typed) ? Math.round(Number(typed) * unit) : -1;
}
