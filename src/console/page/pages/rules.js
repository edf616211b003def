// The rules of a bucket: what time does to its objects, and which web pages may reach it.
import { ask } from "../api.js";
import { h } from "../dom.js";
import { empty } from "../notices.js";
import { go, pageHref } from "../router.js";
import { openEditor } from "./rule-editor.js";
import { corsFields, lifecycleFields } from "./rule-fields.js";

/** @import { BucketsDocument, RulesDocument } from "../../wire-types.ts" */
/** @import { View } from "../pages.js" */

/** @param {View} view */
export async function render({ params, signal, setTitle }) {
  /** @type {BucketsDocument} */
  const { buckets } = await ask("/api/buckets", { signal });
  const [first] = buckets;
  if (first === undefined) return emptyState();
  const bucket = params.get("bucket") ?? first.name;
  setTitle(`Rules of ${bucket}`);
  /** @type {RulesDocument} */
  const { lifecycle, cors } = await ask("/api/rules", { query: { bucket }, signal });
  const choice = h(
    "select",
    {
      id: "rules-bucket",
      onchange: () => go("rules", { bucket: choice.value }),
    },
    ...buckets.map(({ name }) => h("option", { value: name, selected: name === bucket }, name)),
  );
  return h(
    "div",
    {},
    h(
      "div",
      { class: "page-head" },
      h("h1", {}, "Rules"),
      h("div", { class: "choice" }, h("label", { for: "rules-bucket" }, "Bucket"), choice),
    ),
    openEditor({
      ...{ bucket, kind: "lifecycle", rules: lifecycle, fields: lifecycleFields, signal },
      title: "Lifecycle",
      about: "What time does to objects and to uploads that were never finished. Days end at midnight, UTC.",
      none: "Objects stay until somebody deletes them, and uploads too.",
      fresh: () => ({ isEnabled: true, prefix: "", expire: { days: 30 } }),
    }),
    openEditor({
      ...{ bucket, kind: "cors", rules: cors, fields: corsFields, signal },
      title: "CORS",
      about: "Which web pages may reach this bucket from a browser. The first rule that fits decides.",
      none: "No page of another origin may.",
      fresh: () => ({ origins: ["https://example.com"], methods: ["GET"], headers: [], exposed: [] }),
    }),
  );
}

function emptyState() {
  return h(
    "div",
    {},
    h("div", { class: "page-head" }, h("h1", {}, "Rules")),
    h(
      "div",
      { class: "card" },
      empty(
        "There is no bucket to make rules for yet",
        h("a", { href: pageHref("buckets") }, "Create a bucket"),
        " first.",
      ),
    ),
  );
}
