// Page of incomplete multipart uploads in all buckets.
import { uploadTable } from "../bucket/upload-table.js";
import { ask } from "../client/api.js";
import { h } from "../elements/dom.js";

/** @import { BucketsDocument } from "../../wire-types.ts" */
/** @import { View } from "../frame/pages.js" */

/** @param {View} view */
export async function render({ signal }) {
  const { element, button } = uploadTable({
    async buckets() {
      /** @type {BucketsDocument} */
      const { buckets } = await ask("/api/buckets", { signal });
      return buckets.map(({ name }) => name);
    },
    withBucket: true,
    signal,
  });
  return h("div", {}, h("div", { class: "page-head" }, h("h1", {}, "Uploads in progress"), button), element);
}
