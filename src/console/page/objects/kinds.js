// Kinds of objects, by how they can be shown and the end of their key: icons and the filter by type.

/** @import { Preview } from "../../wire-types.ts" */
/** @import { icons } from "../elements/icons.js" */
/** @import { Entry } from "./listing.js" */

/** @typedef {keyof typeof icons} IconName */

/** @type {Readonly<Record<Preview, IconName>>} */
const iconByPreview = {
  image: "image",
  video: "video",
  audio: "audio",
  pdf: "text",
  text: "text",
  markdown: "text",
  json: "scripts",
  csv: "sheet",
  none: "object",
};

const archives = /\.(zip|gz|tgz|tar|bz2|xz|zst|7z|rar|jar)$/i;
const code = /\.(m?[jt]sx?|css|html?|xml|py|sh|sql|go|rs|c|h|java|rb|php)$/i;

/**
 * @param {Entry} entry
 * @returns {IconName}
 */
export function entryIcon(entry) {
  if (entry.folder) return "folder";
  if (archives.test(entry.name)) return "archive";
  const preview = "row" in entry ? entry.row.preview : "none";
  if (preview === "text" && code.test(entry.name)) return "scripts";
  return iconByPreview[preview];
}

/** Choices of the filter by type. */
export const types = /** @type {const} */ ([
  ["all", "All types"],
  ["folder", "Folders"],
  ["image", "Images"],
  ["media", "Video and audio"],
  ["document", "Text and documents"],
  ["other", "Others"],
]);

/**
 * @param {Entry} entry
 * @param {string} type
 */
export function hasType(entry, type) {
  return type === "all" || typeOf(entry) === type;
}

/** @param {Entry} entry */
function typeOf(entry) {
  if (entry.folder) return "folder";
  const preview = "row" in entry ? entry.row.preview : "none";
  if (preview === "image") return "image";
  if (preview === "video" || preview === "audio") return "media";
  return preview === "none" ? "other" : "document";
}
