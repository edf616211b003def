// Checks whether a key can be a file path. Keys that are not valid paths, are ambiguous, or would lie
// outside the folder are reported and never written.
import type { ObjectRecord } from "../../../model/object.ts";

/** Limit of common file systems. */
const maxNameBytes = 255;

/** Why the part of a key after the prefix is not a valid path; undefined when it is. */
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

/** An empty object that other tools create to mark a folder. */
export function isFolderMark({ key, size }: Pick<ObjectRecord, "key" | "size">): boolean {
  return size === 0 && key.endsWith("/");
}

/** The temporary name of a file while it is written; see download.ts. */
export function isPartialName(name: string): boolean {
  return /^\.store-[0-9a-f]{16}\.part$/.test(name);
}
