// Tags of buckets and objects on the command line: `KEY=VALUE` words, and how tags are printed.
import type { Tags } from "../../model/tags.ts";
import { usageError } from "../framework/command-error.ts";
import type { Output } from "../framework/output.ts";

/** Parses `KEY=VALUE` words. The value may be empty and may contain further equals signs. */
export function parseTags(words: readonly string[], label = "A tag"): Tags {
  const tags = new Map<string, string>();
  for (const word of words) {
    const at = word.indexOf("=");
    if (at < 1) throw usageError(`${label} needs a key and a value, not "${word}".`, "Write: KEY=VALUE");
    const key = word.slice(0, at);
    if (tags.has(key)) throw usageError(`The tag "${key}" was given more than once.`);
    tags.set(key, word.slice(at + 1));
  }
  return tags;
}

/** Returns the new tags. Undefined: the command shows the tags. */
export function parseTagChange(words: readonly string[], isCleared: boolean): Tags | undefined {
  if (!isCleared) return words.length === 0 ? undefined : parseTags(words);
  if (words.length > 0) throw usageError("--clear cannot be combined with tags.");
  return new Map();
}

/** `name` is the bucket, or the bucket and the key of the object. */
export async function printTags(output: Output, name: string, tags: Tags): Promise<void> {
  if (output.isJson) return output.json({ name, tags: Object.fromEntries(tags) });
  if (tags.size === 0) output.note(`${output.name(name)} has no tags.`);
  await output.table([{ name: "TAG" }, { name: "VALUE" }], [...tags]);
}
