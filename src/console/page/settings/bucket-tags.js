// Form for the tags of a bucket.
import { createPairs } from "../elements/pairs.js";
import { settingForm } from "./setting-form.js";

/** @import { SettingsDocument } from "../../wire-settings.ts" */

/**
 * @param {string} bucket
 * @param {SettingsDocument} settings
 * @param {AbortSignal} signal
 */
export function bucketTagsForm(bucket, { tags, seen }, signal) {
  const pairs = createPairs({ pairs: tags, addLabel: "Add tag", changed: () => form.changed() });
  const form = settingForm({
    ...{ bucket, kind: "tags", title: "Tags", seen: seen.tags, signal },
    about: "Names and values that describe the bucket. At most 50.",
    content: [pairs.rows, pairs.button],
    value: () => ({ tags: pairs.read() }),
  });
  pairs.button.classList.add("own-width");
  return form.element;
}
