// Between keys and the names of files. A key is a string of bytes and no path: one that would name no file, another
// file than its own, or one outside the folder, is told and never written.
import type { ObjectRecord } from "../../../model/object.ts";

/** The longest name that file systems take, in bytes. */
const maxNameBytes = 255;

/** Why the part of a key behind the prefix cannot be a file's path; undefined when it can. */
export function nameProblem(name: string): string | undefined {
  if (name === "") return "nothing is left of it behind the prefix to name a file";
  if (name.includes("\0")) return "no file name can hold a zero byte";
  const parts = name.split("/");
  if (parts[0] === "") return "behind the prefix it begins with a slash, and would be a path of its own";
  if (parts.at(-1) === "") return "it ends in a slash, and a file's name cannot";
  if (parts.includes("")) return "it has two slashes in a row, which no path keeps";
  const dots = parts.find((part) => part === "." || part === "..");
  if (dots !== undefined) return `"${dots}" in it would name another place`;
  if (parts.some((part) => Buffer.byteLength(part) > maxNameBytes))
    return "a file's name has 255 bytes at most";
  if (isPartialName(parts.at(-1)!)) return "it is named like a file that is being written";
  return undefined;
}

/** What other tools mark an empty folder with: nothing to be a file. */
export function isFolderMark({ key, size }: Pick<ObjectRecord, "key" | "size">): boolean {
  return size === 0 && key.endsWith("/");
}

/** The name of a file until its last byte is there; see download.ts. */
export function isPartialName(name: string): boolean {
  return /^\.store-[0-9a-f]{16}\.part$/.test(name);
}
