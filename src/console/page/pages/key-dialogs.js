// Dialogs for access keys: create, rotate, and show the secret once.
import { ask } from "../client/api.js";
import { openDialog, openForm } from "../elements/dialog.js";
import { h, icon } from "../elements/dom.js";
import { time } from "../elements/format.js";
import { icons } from "../elements/icons.js";
import { note } from "../elements/notices.js";

/** @import { KeySecretDocument } from "../../wire-types.ts" */

/**
 * @typedef {object} CreationOptions
 * @property {readonly string[]} buckets
 * @property {readonly string[]} rights
 * @property {() => Promise<void>} refresh
 */

/** @param {CreationOptions} options */
export function openCreation({ buckets, rights, refresh }) {
  const everything = h("input", { type: "radio", name: "may", id: "may-everything", checked: true });
  const some = h("input", { type: "radio", name: "may", id: "may-some" });
  const grants = grantsField(buckets, rights);
  const account = h("input", { id: "key-account", autocomplete: "off", placeholder: "default" });
  const expires = h("input", {
    id: "key-expires",
    autocomplete: "off",
    placeholder: "never",
    "aria-describedby": "key-expires-help",
  });
  const show = () => {
    grants.element.hidden = !some.checked;
  };
  for (const choice of [everything, some]) choice.addEventListener("change", show);
  show();
  const opened = openForm({
    title: "Create an access key",
    submit: "Create",
    content: [
      h(
        "fieldset",
        {},
        h("legend", {}, "Permissions"),
        h("label", { class: "choice" }, everything, "Full access to the account"),
        h("label", { class: "choice" }, some, "Selected permissions"),
        grants.element,
      ),
      h("label", { for: "key-expires" }, "Expires after"),
      expires,
      h(
        "p",
        { id: "key-expires-help", class: "quiet" },
        "Such as 12h, 30d or 8w. Leave empty for no expiry.",
      ),
      h("label", { for: "key-account" }, "Account"),
      account,
    ],
    async run() {
      /** @type {KeySecretDocument} */
      const made = await ask("/api/keys", {
        method: "POST",
        json: {
          grants: some.checked ? grants.texts() : undefined,
          expires: expires.value.trim() || undefined,
          account: account.value.trim() || undefined,
        },
      });
      await refresh();
      opened.dialog.addEventListener("close", () => showSecret("New access key", made));
    },
  });
  everything.focus();
}

/**
 * One row of permissions for each bucket, and one for all buckets.
 *
 * @param {readonly string[]} buckets
 * @param {readonly string[]} rights
 */
function grantsField(buckets, rights) {
  /** @type {{ bucket: string, right: string, box: HTMLInputElement }[]} */
  const boxes = [];
  const rows = ["*", ...buckets].map((bucket) => {
    const name = bucket === "*" ? "every bucket" : bucket;
    const cells = rights.map((right) => {
      const box = h("input", { type: "checkbox", "aria-label": `${right} on ${name}` });
      boxes.push({ bucket, right, box });
      return h("td", {}, box);
    });
    return h("tr", {}, h("th", { scope: "row" }, name), ...cells);
  });
  const heads = ["Bucket", ...rights].map((name) => h("th", { scope: "col" }, name));
  const element = h(
    "div",
    { class: "grants table-scroll", tabindex: 0, role: "group", "aria-label": "Permissions" },
    h("table", {}, h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...rows)),
  );
  /** Returns the grants in the format of the command line: `photos:read,list`. */
  function texts() {
    return ["*", ...buckets].flatMap((bucket) => {
      const given = boxes.filter((one) => one.bucket === bucket && one.box.checked).map(({ right }) => right);
      return given.length === 0 ? [] : [`${bucket}:${given.join(",")}`];
    });
  }
  return { element, texts };
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

/**
 * @param {string} name
 * @param {string} value
 */
function copyField(name, value) {
  const id = `copy-${name.replaceAll(" ", "-").toLowerCase()}`;
  const field = h("input", { id, class: "mono", readonly: true, value });
  const copy = async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(value);
      note(`Copied the ${name.toLowerCase()}.`);
    } catch {
      note(
        "The browser blocked access to the clipboard. The text is selected: copy it with the keyboard.",
        "failed",
      );
    }
  };
  const button = h(
    "button",
    { type: "button", "aria-label": `Copy the ${name.toLowerCase()}`, onclick: () => void copy() },
    icon(icons.copy),
  );
  return h(
    "div",
    { class: "field" },
    h("label", { for: id }, name),
    h("div", { class: "with-button" }, field, button),
  );
}
