// Page of a bucket's settings: versioning, locks, lifecycle and CORS rules, quota and tags.
import { ask } from "../client/api.js";
import { may } from "../client/permissions.js";
import { go, pageHref } from "../client/router.js";
import { h } from "../elements/dom.js";
import { emptyCard } from "../elements/notices.js";
import { bucketTagsForm } from "../settings/bucket-tags.js";
import { protectionForms } from "../settings/protection.js";
import { quotaForm } from "../settings/quota.js";
import { openEditor } from "./rule-editor.js";
import { corsFields, lifecycleFields, lockFields } from "./rule-fields.js";

/** @import { BucketsDocument, RulesDocument, SettingsDocument } from "../../wire-types.ts" */
/** @import { View } from "../frame/pages.js" */

/** @param {View} view */
export async function render({ params, signal, setTitle }) {
  /** @type {BucketsDocument} */
  const { buckets } = await ask("/api/buckets", { signal });
  const [first] = buckets;
  if (first === undefined) return emptyState();
  const bucket = params.get("bucket") ?? first.name;
  setTitle(`Settings of ${bucket}`);
  /** @type {RulesDocument} */
  const { lifecycle, cors, locks, seen } = await ask("/api/rules", { query: { bucket }, signal });
  /** @type {SettingsDocument} */
  const settings = await ask("/api/settings", { query: { bucket }, signal });
  const choice = h(
    "select",
    {
      id: "rules-bucket",
      onchange: () => go("rules", { bucket: choice.value }),
    },
    ...buckets.map(({ name }) => h("option", { value: name, selected: name === bucket }, name)),
  );
  const forms = [
    protectionForms(bucket, settings, signal),
    openEditor({
      ...{ bucket, kind: "locks", rules: locks, seen: seen.locks, fields: lockFields, signal },
      title: "Lock",
      heading: "Lock rules",
      about:
        "Keep objects from being removed, by prefix. Without versioning, a locked object cannot be replaced either.",
      none: "No lock rules: objects can be replaced and deleted.",
      fresh: () => ({ isEnabled: true, prefix: "", condition: { kind: "age", seconds: 30 * 86_400 } }),
    }),
    openEditor({
      ...{
        bucket,
        kind: "lifecycle",
        rules: lifecycle,
        seen: seen.lifecycle,
        fields: lifecycleFields,
        signal,
      },
      title: "Lifecycle",
      about:
        "Expire or transition objects and clean up incomplete uploads, by age. Days end at midnight UTC.",
      none: "No lifecycle rules: objects and incomplete uploads are kept until they are deleted.",
      fresh: () => ({ isEnabled: true, prefix: "", expire: { days: 30 } }),
    }),
    openEditor({
      ...{ bucket, kind: "cors", rules: cors, seen: seen.cors, fields: corsFields, signal },
      title: "CORS",
      about: "Which web pages can access this bucket from a browser. The first matching rule applies.",
      none: "No CORS rules: cross-origin requests are blocked.",
      fresh: () => ({ origins: ["https://example.com"], methods: ["GET"], headers: [], exposed: [] }),
    }),
    quotaForm(bucket, settings, signal),
    bucketTagsForm(bucket, settings, signal),
  ];
  return h(
    "div",
    {},
    h(
      "div",
      { class: "page-head" },
      h("h1", {}, "Settings"),
      h("div", { class: "choice" }, h("label", { for: "rules-bucket" }, "Bucket"), choice),
    ),
    may("administer", bucket)
      ? undefined
      : h(
          "p",
          { class: "notice lead", role: "note" },
          "Your role can view these settings, but not change them.",
        ),
    h("fieldset", { class: "read-only", disabled: !may("administer", bucket) }, ...forms),
  );
}

function emptyState() {
  return h(
    "div",
    {},
    h("div", { class: "page-head" }, h("h1", {}, "Settings")),
    may("administer")
      ? emptyCard(
          "There are no buckets yet",
          h("a", { href: pageHref("buckets") }, "Create a bucket"),
          " first.",
        )
      : emptyCard("There are no buckets that you can see", "Ask an administrator for a role."),
  );
}
