// Page of one object: preview, metadata and actions.
import { address, ask } from "../api.js";
import { copyText } from "../copy.js";
import { openForm } from "../dialog.js";
import { h, icon } from "../dom.js";
import { bytes, number, time } from "../format.js";
import { icons } from "../icons.js";
import { noteFailure } from "../notices.js";
import { breadcrumbs } from "../objects/breadcrumbs.js";
import { openDeletion } from "../objects/deletion.js";
import { httpFields, openMetadataForm } from "../objects/metadata-form.js";
import { preview } from "../objects/preview.js";
import { maskControls } from "../objects/row.js";
import { go } from "../router.js";
import { addShortcuts } from "../shortcuts.js";

/** @import { LinkDocument, ObjectDocument } from "../../wire-types.ts" */
/** @import { View } from "../pages.js" */

/** @param {View} view */
export async function render({ params, signal, setTitle }) {
  const bucket = params.get("bucket") ?? "";
  const key = params.get("key") ?? "";
  setTitle(key);
  const content = h("div", { class: "object" });

  async function refresh() {
    /** @type {ObjectDocument} */
    const object = await ask("/api/object", { query: { bucket, key }, signal });
    const edit = () => openMetadataForm(bucket, object, () => void refresh().catch(noteFailure));
    content.replaceChildren(
      h("div", { class: "page-head" }, breadcrumbs(bucket, key), ...actions(bucket, object, edit)),
      h(
        "div",
        { class: "object-parts" },
        h("section", { class: "card", "aria-label": "Preview" }, preview(bucket, object, signal)),
        h("div", { class: "object-facts" }, ...facts(object)),
      ),
    );
    addShortcuts(signal, [
      { key: "e", does: "Edit metadata", run: edit },
      { key: "k", does: "Copy the key", run: () => void copyText(key, "key") },
    ]);
  }

  await refresh();
  return content;
}

/**
 * @param {string} bucket
 * @param {ObjectDocument} object
 * @param {() => void} edit
 */
function actions(bucket, { key, size, uploaded, etag, storageClass, url, encryptionKeyMd5 }, edit) {
  const isReadable = encryptionKeyMd5 === undefined;
  const row = { key, size, uploaded, etag, storageClass };
  const above = key.slice(0, key.lastIndexOf("/") + 1);
  const left = async () => go("objects", { bucket, prefix: above });
  return [
    isReadable
      ? h(
          "a",
          { class: "button", href: address("/api/content", { bucket, key }), download: "" },
          icon(icons.download),
          "Download",
        )
      : undefined,
    h("button", { type: "button", onclick: () => copyText(key, "key") }, icon(icons.copy), "Key"),
    h("button", { type: "button", onclick: () => copyText(url, "URL") }, icon(icons.copy), "URL"),
    h("button", { type: "button", onclick: () => openLink(bucket, key) }, icon(icons.copy), "Signed link"),
    isReadable ? h("button", { type: "button", onclick: edit }, "Edit metadata") : undefined,
    h(
      "button",
      { type: "button", onclick: () => openDeletion(bucket, [{ name: key, folder: false, row }], left) },
      icon(icons.remove),
      "Delete",
    ),
  ];
}

const lifetimes = /** @type {const} */ ([
  [900, "15 minutes"],
  [3600, "1 hour"],
  [86_400, "1 day"],
  [604_800, "7 days"],
]);

/**
 * @param {string} bucket
 * @param {string} key
 */
function openLink(bucket, key) {
  const seconds = h(
    "select",
    { id: "link-time" },
    ...lifetimes.map(([value, name]) => h("option", { value }, name)),
  );
  seconds.value = "3600";
  openForm({
    title: "Copy a signed link",
    submit: "Copy",
    content: [
      h("p", {}, "Anyone with the link can download the object until the link expires."),
      h("label", { for: "link-time" }, "Expires in"),
      seconds,
    ],
    async run() {
      /** @type {LinkDocument} */
      const { url } = await ask("/api/object/link", {
        method: "POST",
        json: { bucket, key, seconds: Number(seconds.value) },
      });
      await copyText(url, "signed link");
    },
  });
}

/** @param {ObjectDocument} object */
function facts(object) {
  const { size, uploaded, version, etag, storageClass, parts, encryptionKeyMd5, checksumParts } = object;
  /** @type {[string, string][]} */
  const about = [
    ["Size", `${bytes(size)} (${number(size)} B)`],
    ["Uploaded", time(uploaded)],
    ["Storage class", storageClass],
    ["Version", version],
    ["ETag", etag],
  ];
  if (parts !== undefined) about.push(["Parts", number(parts)]);
  if (encryptionKeyMd5 !== undefined) about.push(["Encryption key MD5", encryptionKeyMd5]);
  const http = httpFields.flatMap(([name, header]) => {
    const value = object.httpMetadata[name];
    return value === undefined ? [] : [[header, typeof value === "number" ? time(value) : value]];
  });
  const checksums = Object.entries(object.checksums);
  return [
    factCard("Object", about),
    factCard("HTTP metadata", /** @type {[string, string][]} */ (http), "None."),
    factCard("Custom metadata", Object.entries(object.customMetadata), "None."),
    factCard(
      checksumParts === undefined ? "Checksums" : `Checksums of ${number(checksumParts)} parts`,
      checksums,
      "None besides the etag.",
    ),
  ];
}

/**
 * @param {string} title
 * @param {readonly (readonly [string, string])[]} pairs
 * @param {string} [none]
 */
function factCard(title, pairs, none = "") {
  const list = pairs.flatMap(([name, value]) => [
    h("dt", {}, maskControls(name)),
    h("dd", {}, maskControls(value)),
  ]);
  return h(
    "section",
    { class: "card fact-card" },
    h("h2", {}, title),
    list.length === 0 ? h("p", { class: "quiet" }, none) : h("dl", {}, ...list),
  );
}
