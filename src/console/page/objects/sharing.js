// Share links: create one, and copy the URL that works for the object: the public one if the bucket
// is public, otherwise a share link.
import { ask } from "../client/api.js";
import { copyText } from "../elements/copy.js";
import { copyField } from "../elements/copy-field.js";
import { openDialog, openForm } from "../elements/dialog.js";
import { h } from "../elements/dom.js";
import { time } from "../elements/format.js";
import { noteFailure } from "../elements/notices.js";

/** @import { NewShareDocument } from "../../wire-bucket.ts" */
/** @import { LinkDocument, ObjectDocument } from "../../wire-types.ts" */

const hour = 3600;
const day = 24 * hour;
const lifetimes = /** @type {const} */ ([
  [hour, "1 hour"],
  [day, "1 day"],
  [7 * day, "7 days"],
  [30 * day, "30 days"],
  [365 * day, "1 year"],
]);

/**
 * @param {string} bucket
 * @param {string} key
 * @param {() => void} [done]
 */
export function openShare(bucket, key, done = () => {}) {
  const seconds = lifetimeSelect();
  const { button } = openForm({
    title: "Share this object",
    submit: "Create link",
    content: [
      h(
        "p",
        {},
        "Anyone with the link can download the object until the link expires or is revoked in the tab Access of the bucket.",
      ),
      h("div", { class: "field" }, h("label", { for: "link-time" }, "Expires in"), seconds),
    ],
    async run() {
      /** @type {NewShareDocument} */
      const share = await ask("/api/shares", {
        method: "POST",
        json: { bucket, key, seconds: Number(seconds.value) },
      });
      showLink("Share link", share.url, `Valid until ${time(share.expires)}. The link is shown only once.`);
      done();
    },
  });
  // Enter creates a link of the default lifetime.
  button.focus();
}

/**
 * A presigned link of the S3 API: it cannot be revoked, but needs no console.
 *
 * @param {string} bucket
 * @param {string} key
 */
export function openSignedLink(bucket, key) {
  const seconds = lifetimeSelect(7 * day);
  const { button } = openForm({
    title: "Copy a signed link",
    submit: "Create link",
    content: [
      h(
        "p",
        {},
        "A link to the S3 API. Anyone with it can download the object until it expires; it cannot be revoked.",
      ),
      h("div", { class: "field" }, h("label", { for: "link-time" }, "Expires in"), seconds),
    ],
    async run() {
      /** @type {LinkDocument} */
      const { url } = await ask("/api/object/link", {
        method: "POST",
        json: { bucket, key, seconds: Number(seconds.value) },
      });
      showLink("Signed link", url, "The link cannot be revoked.");
    },
  });
  button.focus();
}

function lifetimeSelect(max = Number.POSITIVE_INFINITY) {
  const seconds = h(
    "select",
    { id: "link-time" },
    ...lifetimes.filter(([value]) => value <= max).map(([value, name]) => h("option", { value }, name)),
  );
  seconds.value = String(day);
  return seconds;
}

/**
 * @param {string} title
 * @param {string} url
 * @param {string} about
 */
function showLink(title, url, about) {
  // After the form is closed, so that the focus returns to where the user was.
  setTimeout(() => openLink(title, url, about));
}

/**
 * @param {string} title
 * @param {string} url
 * @param {string} about
 */
function openLink(title, url, about) {
  /** @type {HTMLDialogElement} */
  const dialog = openDialog(
    h(
      "div",
      {},
      h("h2", { id: "dialog-title" }, title),
      copyField("Link", url),
      h("p", { class: "quiet small-text" }, about),
      h(
        "div",
        { class: "actions" },
        h("button", { class: "primary", type: "button", onclick: () => dialog.close() }, "Done"),
      ),
    ),
  );
}

/**
 * @param {string} bucket
 * @param {string} key
 */
export async function copyUrl(bucket, key) {
  try {
    /** @type {ObjectDocument} */
    const { publicUrl } = await ask("/api/object", { query: { bucket, key } });
    if (publicUrl === null) openShare(bucket, key);
    else await copyText(publicUrl, "public URL");
  } catch (error) {
    noteFailure(error);
  }
}
