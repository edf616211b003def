// Tab Uploads: the incomplete multipart uploads of the bucket.
import { h } from "../elements/dom.js";
import { unfinishedNotice } from "../upload/unfinished.js";
import { uploadTable } from "./upload-table.js";

/** @import { TabContent, TabView } from "../pages/bucket.js" */

/**
 * @param {TabView} view
 * @returns {Promise<TabContent>}
 */
export async function renderTab({ bucket, signal }) {
  const { element, button } = uploadTable({ buckets: async () => [bucket], withBucket: false, signal });
  return { element: h("div", {}, unfinishedNotice(bucket), element), tools: [button] };
}
