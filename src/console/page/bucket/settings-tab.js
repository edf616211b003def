// Tab Settings: one card for each setting of the bucket, saved alone.
import { ask } from "../client/api.js";
import { may } from "../client/permissions.js";
import { h } from "../elements/dom.js";
import { time } from "../elements/format.js";
import { openEditor } from "../pages/rule-editor.js";
import { corsFields, lifecycleFields, lockFields } from "../pages/rule-fields.js";
import { encryptionForm, policyForm, publicAccessForm } from "../settings/access-forms.js";
import { bucketTagsForm } from "../settings/bucket-tags.js";
import { notificationsCard } from "../settings/notifications.js";
import { protectionForms } from "../settings/protection.js";
import { publicationForm } from "../settings/publication.js";
import { quotaForm } from "../settings/quota.js";

/** @import { BucketDetailsDocument, NotificationsDocument } from "../../wire-bucket.ts" */
/** @import { RulesDocument, SettingsDocument } from "../../wire-settings.ts" */
/** @import { TabContent, TabView } from "../pages/bucket.js" */

/**
 * @param {TabView} view
 * @returns {Promise<TabContent>}
 */
export async function renderTab({ bucket, signal, details }) {
  const query = { bucket };
  const [rules, settings, notifications] = await Promise.all([
    /** @type {Promise<RulesDocument>} */ (ask("/api/rules", { query, signal })),
    /** @type {Promise<SettingsDocument>} */ (ask("/api/settings", { query, signal })),
    /** @type {Promise<NotificationsDocument>} */ (ask("/api/notifications", { query, signal })),
  ]);
  /** @type {[string, HTMLElement][]} */
  const sections = [
    ["General", generalCard(details)],
    ["Publication and domains", publicationForm(bucket, settings, details, signal)],
    ["Policy", policyForm(bucket, settings, signal)],
    ["Public access block", publicAccessForm(bucket, settings, signal)],
    ["Versioning and Object Lock", protectionForms(bucket, settings, signal)],
    ...ruleEditors(bucket, rules, signal),
    ["Quota", quotaForm(bucket, settings, signal)],
    ["Default encryption", encryptionForm(bucket, settings, signal)],
    ["Notifications", notificationsCard(bucket, notifications, signal)],
    ["Tags", bucketTagsForm(bucket, settings, signal)],
  ];
  const canChange = may("administer", bucket);
  const element = h(
    "div",
    { class: "settings-layout" },
    h(
      "nav",
      { class: "section-links", "aria-label": "Settings" },
      ...sections.map(([title, section]) =>
        h("button", { class: "bare", type: "button", onclick: () => goTo(section) }, title),
      ),
    ),
    h(
      "div",
      { class: "settings" },
      canChange
        ? undefined
        : h(
            "p",
            { class: "notice lead", role: "note" },
            "Your role can view these settings, but not change them.",
          ),
      h("fieldset", { class: "read-only", disabled: !canChange }, ...sections.map(([, section]) => section)),
    ),
  );
  return { element };
}

/**
 * Moves the focus too, so that the next Tab reaches the section.
 *
 * @param {HTMLElement} section
 */
function goTo(section) {
  section.tabIndex = -1;
  section.focus({ preventScroll: true });
  section.scrollIntoView();
}

/** @param {BucketDetailsDocument} details */
function generalCard({ name, created, account, storageClass }) {
  const facts = [
    ["Name", name],
    ["Created", time(created)],
    ["Account", account],
    ["Default storage class", storageClass],
  ].flatMap(([title, value]) => [h("dt", {}, title), h("dd", {}, value)]);
  return h(
    "section",
    { class: "card editor", "aria-label": "General" },
    h("div", {}, h("h2", {}, "General"), h("p", { class: "quiet" }, "Chosen when the bucket was created.")),
    h("dl", { class: "facts" }, ...facts),
  );
}

/**
 * @param {string} bucket
 * @param {RulesDocument} rules
 * @param {AbortSignal} signal
 * @returns {[string, HTMLElement][]}
 */
function ruleEditors(bucket, { lifecycle, isDefaultLifecycle, cors, locks, seen }, signal) {
  const lifecycleDefault = isDefaultLifecycle ? " Until rules are set, this one applies." : "";
  return [
    [
      "Lock rules",
      openEditor({
        ...{ bucket, kind: "locks", rules: locks, seen: seen.locks, fields: lockFields, signal },
        title: "Lock",
        heading: "Lock rules",
        about:
          "Keep objects from being removed, by prefix. Without versioning, a locked object cannot be replaced either.",
        none: "No lock rules: objects can be replaced and deleted.",
        fresh: () => ({ isEnabled: true, prefix: "", condition: { kind: "age", seconds: 30 * 86_400 } }),
      }),
    ],
    [
      "Lifecycle",
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
          "Expire or transition objects and clean up incomplete uploads, by age. Days end at midnight UTC." +
          lifecycleDefault,
        none: "No lifecycle rules: objects are kept until they are deleted, incomplete uploads for seven days.",
        fresh: () => ({ isEnabled: true, prefix: "", expire: { days: 30 } }),
      }),
    ],
    [
      "CORS",
      openEditor({
        ...{ bucket, kind: "cors", rules: cors, seen: seen.cors, fields: corsFields, signal },
        title: "CORS",
        about: "Which web pages can access this bucket from a browser. The first matching rule applies.",
        none: "No CORS rules: cross-origin requests are blocked.",
        fresh: () => ({ origins: ["https://example.com"], methods: ["GET"], headers: [], exposed: [] }),
      }),
    ],
  ];
}
