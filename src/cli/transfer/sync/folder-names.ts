// Checks whether a key can be a file path. Keys that are ambiguous, are not valid paths, or would
// be outside the folder are reported and never written.
import type { ObjectRecord } from "../../../model/object.ts";

/** Maximum length of a file name in common file systems. */
const maxNameBytes = 255;

/** Returns why the part of a key after the prefix is not a valid path; undefined if it is valid. */
export function nameProblem(name: string): string | undefined {
  if (name === "") return "nothing follows the prefix";
  if (name.includes("\0")) return "a file name cannot contain a zero byte";
  const parts = name.split("/");
  if (parts[0] === "") return "after the prefix it starts with a slash";
  if (parts.at(-1) === "") return "it ends with a slash";
  if (parts.includes("")) return "it contains two slashes in a row";
  const dots = parts.find((part) => part === "." || part === "..");
  if (dots !== undefined) return `it contains "${dots}" as a folder name`;
  if (parts.some((part) => Buffer.byteLength(part) > maxNameBytes))
    return "a file name has at most 255 bytes";
  if (isPartialName(parts.at(-1)!)) return "it has the name of a temporary file";
  return undefined;
}

/** Whether the object is a folder marker: an empty object that some tools create per folder. */
export function isFolderMark({ key, size }: Pick<ObjectRecord, "key" | "size">): boolean {
  return size === 0 && key.endsWith("/");
}

/** Whether the name is that of a temporary file; see download.ts. */
export function isPartialName(name: string): boolean {
  return /^\.store-[0-9a-f]{16}\.part$/.test(name);
}
