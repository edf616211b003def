// Dialogs for access keys: create, rotate, and show the secret once.
import { ask } from "../client/api.js";
import { copyField } from "../elements/copy-field.js";
import { openDialog, openForm } from "../elements/dialog.js";
import { h } from "../elements/dom.js";
import { time } from "../elements/format.js";
import { note } from "../elements/notices.js";
import { createGrantFields } from "./grant-fields.js";

/** @import { KeySecretDocument } from "../../wire-types.ts" */

/**
 * @typedef {object} CreationOptions
 * @property {readonly string[]} buckets
 * @property {() => Promise<void>} refresh
 */

/** @param {CreationOptions} options */
export function openCreation({ buckets, refresh }) {
  const name = h("input", {
    id: "key-name",
    autocomplete: "off",
    maxlength: 60,
    placeholder: "backup of the shop",
  });
  const everything = h("input", { type: "radio", name: "may", id: "may-everything" });
  const some = h("input", { type: "radio", name: "may", id: "may-some", checked: true });
  const grants = createGrantFields(buckets);
  const account = h("input", { id: "key-account", autocomplete: "off", placeholder: "default" });
  const expires = h("input", {
    ...{ id: "key-expires", autocomplete: "off", placeholder: "never" },
    "aria-describedby": "key-expires-help",
  });
  const requests = limitInput("key-requests");
  const megabytes = limitInput("key-megabytes");
  const existing = existingFields();
  const show = () => {
    grants.element.hidden = !some.checked;
  };
  for (const choice of [everything, some]) choice.addEventListener("change", show);
  const opened = openForm({
    title: "Create key",
    submit: "Create key",
    content: [
      field(name, "What it is for"),
      h(
        "fieldset",
        {},
        h("legend", {}, "Permissions"),
        h("label", { class: "choice" }, some, "Selected buckets and prefixes"),
        h("label", { class: "choice" }, everything, "Full access to the account"),
        grants.element,
      ),
      h(
        "div",
        { class: "fields" },
        h(
          "div",
          { class: "field" },
          h("label", { for: "key-expires" }, "Expires after"),
          expires,
          h(
            "p",
            { id: "key-expires-help", class: "quiet small-text" },
            "Such as 12h, 30d or 8w. Empty: never.",
          ),
        ),
        field(account, "Account"),
        field(requests, "Requests per second, at most"),
        field(megabytes, "MiB per second, at most"),
      ),
      existing.element,
    ],
    async run() {
      /** @type {KeySecretDocument} */
      const made = await ask("/api/keys", {
        method: "POST",
        json: {
          name: name.value.trim() || undefined,
          grants: some.checked ? grants.texts() : undefined,
          expires: expires.value.trim() || undefined,
          account: account.value.trim() || undefined,
          limits: readLimits(requests, megabytes),
          existing: existing.read(),
        },
      });
      await refresh();
      if (existing.read() !== undefined) note(`Imported the key ${made.accessKeyId}.`);
      else opened.dialog.addEventListener("close", () => showSecret("New access key", made));
    },
  });
  opened.dialog.classList.add("wide");
  name.focus();
}

/** Id and secret of a key that clients already have. */
function existingFields() {
  const id = h("input", { id: "key-existing-id", autocomplete: "off", spellcheck: "false" });
  const secret = h("input", { id: "key-existing-secret", type: "password", autocomplete: "new-password" });
  return {
    element: h(
      "details",
      {},
      h("summary", {}, "Import a key that clients already have"),
      h("div", { class: "fields" }, field(id, "Access key id"), field(secret, "Secret access key")),
    ),
    read() {
      if (id.value.trim() === "" && secret.value === "") return undefined;
      return { accessKeyId: id.value.trim(), secretAccessKey: secret.value };
    },
  };
}

/** @param {string} id */
function limitInput(id) {
  return h("input", { id, type: "number", min: 1, step: 1, placeholder: "no limit" });
}

/**
 * @param {HTMLInputElement} requests
 * @param {HTMLInputElement} megabytes
 */
function readLimits(requests, megabytes) {
  if (requests.value === "" && megabytes.value === "") return undefined;
  return {
    requestsPerSecond: requests.value === "" ? undefined : Number(requests.value),
    bytesPerSecond: megabytes.value === "" ? undefined : Number(megabytes.value) * 1024 * 1024,
  };
}

/**
 * @param {HTMLInputElement} control
 * @param {string} label
 */
function field(control, label) {
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control);
}

/**
 * @param {string} accessKeyId
 * @param {() => Promise<void>} refresh
 */
export function openRotation(accessKeyId, refresh) {
  const keep = h("input", {
    id: "key-keep",
    autocomplete: "off",
    value: "24h",
    "aria-describedby": "key-keep-help",
  });
  const opened = openForm({
    title: `Rotate the secret of ${accessKeyId}`,
    submit: "Rotate",
    content: [
      h("label", { for: "key-keep" }, "Keep the previous secret valid for"),
      keep,
      h(
        "p",
        { id: "key-keep-help", class: "quiet" },
        "Gives clients time to switch to the new secret. Leave empty to end the previous secret now.",
      ),
    ],
    async run() {
      /** @type {KeySecretDocument} */
      const rotated = await ask("/api/keys/rotate", {
        method: "POST",
        query: { key: accessKeyId },
        json: { keep: keep.value.trim() || undefined },
      });
      await refresh();
      opened.dialog.addEventListener("close", () => showSecret("New secret", rotated));
    },
  });
  keep.focus();
}

/**
 * @param {string} title
 * @param {KeySecretDocument} secret
 */
function showSecret(title, { accessKeyId, secretAccessKey, previousUntil }) {
  /** @type {HTMLDialogElement} */
  const dialog = openDialog(
    h(
      "div",
      {},
      h("h2", { id: "dialog-title" }, title),
      h("p", { class: "notice" }, "Save the secret now: it is not shown again."),
      copyField("Access key id", accessKeyId),
      copyField("Secret access key", secretAccessKey),
      previousUntil === null
        ? undefined
        : h("p", { class: "quiet" }, `The previous secret is valid until ${time(previousUntil)}.`),
      h(
        "div",
        { class: "actions" },
        h("button", { class: "primary", type: "button", onclick: () => dialog.close() }, "I have saved it"),
      ),
    ),
  );
}
