// Parses x-amz-tagging, which has the form of a URL query. Policies and writes see the same tags.
import { maxObjectTags, tooManyTags } from "../model/tags.ts";
import { S3Error } from "./errors.ts";

/** Limit on pairs, also on empty ones, because each decision about a policy may parse the header. */
export const maxPairs = 5 * maxObjectTags;

export function parseTagHeader(header: string): ReadonlyMap<string, string> {
  const tags = new Map<string, string>();
  const pairs = header.split("&", maxPairs + 1);
  if (pairs.length > maxPairs) throw tooManyTags(maxObjectTags);
  for (const pair of pairs.filter((one) => one !== "")) {
    if (tags.size === maxObjectTags) throw tooManyTags(maxObjectTags);
    const at = pair.indexOf("=");
    const [name, value] = at === -1 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + 1)];
    const key = decodeTag(name);
    if (key === "" || tags.has(key)) throw invalidHeader();
    tags.set(key, decodeTag(value));
  }
  return tags;
}

/** A header's bytes are read as latin1, but may be UTF-8. */
function decodeTag(text: string): string {
  try {
    return decodeURIComponent(Buffer.from(text, "latin1").toString("utf8").replaceAll("+", "%20"));
  } catch (cause) {
    throw invalidHeader(cause);
  }
}

function invalidHeader(cause?: unknown): S3Error {
  return new S3Error("InvalidArgument", {
    message:
      "The header 'x-amz-tagging' shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates.",
    cause,
  });
}
