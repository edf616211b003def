// What the object list shows if it has no rows: why, and the next step.
import { pageHref } from "../client/router.js";
import { h, icon } from "../elements/dom.js";
import { icons } from "../elements/icons.js";
import { empty } from "../elements/notices.js";
import { maskControls } from "./row.js";

/** @import { BucketDetailsDocument } from "../../wire-bucket.ts" */

/**
 * @param {object} options
 * @param {string} options.bucket
 * @param {string} options.prefix
 * @param {string} options.text of the search
 * @param {boolean} options.isFiltered
 * @param {number | undefined} options.at
 * @param {boolean} options.isDeleted
 * @param {boolean} options.canEdit
 * @param {BucketDetailsDocument} options.details
 * @param {() => void} options.pickFiles
 */
export function emptyStates({
  bucket,
  prefix,
  text,
  isFiltered,
  at,
  isDeleted,
  canEdit,
  details,
  pickFiles,
}) {
  if (isFiltered) return empty("No objects of this type", "Choose another type to see the others.");
  if (isDeleted) return emptyDeleted(details);
  if (text !== "")
    return empty("No key contains this text", h("span", { class: "mono" }, maskControls(text)));
  if (at !== undefined) return empty("No objects at this time", "Choose another time, or go back to now.");
  const title = prefix === "" ? `${bucket} is empty` : "This folder is empty";
  if (!canEdit) return empty(title, "Nothing was uploaded yet.");
  return h(
    "div",
    { class: "state" },
    icon(icons.uploads),
    h("h2", {}, title),
    h("p", {}, "Drop files or whole folders here, or choose them. Programs can upload with any S3 client."),
    h(
      "div",
      { class: "actions" },
      h("button", { class: "primary", type: "button", onclick: pickFiles }, "Choose files"),
    ),
  );
}

/** @param {BucketDetailsDocument} details */
function emptyDeleted({ name, versioning }) {
  if (versioning !== "off")
    return empty("No deleted objects", "Nothing was deleted here, or it was restored.");
  return h(
    "div",
    { class: "state" },
    icon(icons.history),
    h("h2", {}, "Versioning is off"),
    h("p", {}, "With versioning, objects that are replaced or deleted are kept, and can be restored here."),
    h(
      "div",
      { class: "actions" },
      h(
        "a",
        { class: "button", href: pageHref("bucket", { bucket: name, tab: "settings" }) },
        "Open the settings",
      ),
    ),
  );
}
