// Forms for the policy, the public access block and the default encryption of a bucket.
import { h } from "../elements/dom.js";
import { settingForm } from "./setting-form.js";

/** @import { SettingsDocument } from "../../wire-settings.ts" */

/**
 * @param {string} bucket
 * @param {SettingsDocument} settings
 * @param {AbortSignal} signal
 */
export function policyForm(bucket, { policy, seen }, signal) {
  const text = h("textarea", {
    ...{ id: "policy", class: "mono", rows: policy === null ? 4 : 14, spellcheck: "false" },
    ...{ value: formatPolicy(policy), "aria-describedby": "policy-help" },
  });
  const example = h(
    "button",
    { class: "small own-width", type: "button", onclick: () => insertExample() },
    "Insert an example",
  );
  const form = settingForm({
    ...{ bucket, kind: "policy", title: "Policy", seen: seen.policy, signal },
    about: "Who may do what, in S3's policy language: other accounts, single keys, or everyone.",
    content: [
      h(
        "div",
        { class: "field" },
        h("label", { for: "policy" }, "Policy in JSON"),
        text,
        h("p", { id: "policy-help", class: "quiet small-text" }, "An empty text removes the policy."),
      ),
      example,
    ],
    value: () => ({ policy: text.value }),
    errorFor: text,
  });
  function insertExample() {
    text.value = JSON.stringify(
      {
        Version: "2012-10-17",
        Statement: [
          {
            ...{ Sid: "ReadOneFolder", Effect: "Allow", Principal: "*", Action: "s3:GetObject" },
            Resource: `arn:aws:s3:::${bucket}/public/*`,
          },
        ],
      },
      undefined,
      2,
    );
    text.rows = 14;
    form.changed();
    text.focus();
  }
  return form.element;
}

/** @param {string | null} policy */
function formatPolicy(policy) {
  try {
    return policy === null ? "" : JSON.stringify(JSON.parse(policy), undefined, 2);
  } catch {
    return policy ?? "";
  }
}

const switches = /** @type {const} */ ([
  ["blockPublicPolicy", "Refuse new policies that are public"],
  ["restrictPublicBuckets", "A public policy gives access to the account of the bucket only"],
  ["blockPublicAcls", "Refuse public ACLs (without effect: ACLs never give access)"],
  ["ignorePublicAcls", "Ignore public ACLs (without effect: ACLs never give access)"],
]);

/**
 * @param {string} bucket
 * @param {SettingsDocument} settings
 * @param {AbortSignal} signal
 */
export function publicAccessForm(bucket, { publicAccessBlock, seen }, signal) {
  const boxes = switches.map(([name, label]) => ({
    ...{ name, label },
    box: h("input", { type: "checkbox", class: "toggle", checked: publicAccessBlock?.[name] === true }),
  }));
  return settingForm({
    ...{ bucket, kind: "publicAccessBlock", title: "Public access block", signal },
    seen: seen.publicAccessBlock,
    about: "Keeps policies from making the bucket public. The publication above does not depend on it.",
    content: boxes.map(({ box, label }) => h("label", { class: "choice" }, box, label)),
    value: () => ({
      publicAccessBlock: Object.fromEntries(boxes.map(({ name, box }) => [name, box.checked])),
    }),
  }).element;
}

/**
 * @param {string} bucket
 * @param {SettingsDocument} settings
 * @param {AbortSignal} signal
 */
export function encryptionForm(bucket, { isEncrypted, seen }, signal) {
  const box = h("input", { type: "checkbox", class: "toggle", checked: isEncrypted });
  return settingForm({
    ...{ bucket, kind: "encryption", title: "Default encryption", seen: seen.encryption, signal },
    about:
      "Encrypt new objects with the store's keys, also if a client does not ask for it. Existing objects stay as they are.",
    content: [h("label", { class: "choice" }, box, "Encrypt new objects (AES-256)")],
    value: () => ({ isOn: box.checked }),
  }).element;
}
