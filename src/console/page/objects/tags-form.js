// Form to change the tags of an object.
import { ask } from "../client/api.js";
import { openForm } from "../elements/dialog.js";
import { h } from "../elements/dom.js";
import { note } from "../elements/notices.js";
import { createPairs } from "../elements/pairs.js";

/** @import { ObjectDocument } from "../../wire-types.ts" */

/**
 * @param {string} bucket
 * @param {ObjectDocument} object
 * @param {() => void} done
 */
export function openTagsForm(bucket, { key, version, tags }, done) {
  const pairs = createPairs({ pairs: Object.entries(tags) });
  openForm({
    title: "Edit tags",
    submit: "Save",
    content: [
      h("p", { class: "quiet" }, "At most 10 tags. The object itself is not written again."),
      pairs.rows,
      pairs.button,
    ],
    async run() {
      await ask("/api/object/tags", {
        method: "PUT",
        json: { bucket, key, version, tags: Object.fromEntries(pairs.read()) },
      });
      note("Saved the tags.");
      done();
    },
  });
}
