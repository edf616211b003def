// Tags in headers and XML documents. The engine checks their number and characters.
import { compareKeys } from "../../model/key.ts";
import { checkTags, maxObjectTags, type Tags } from "../../model/tags.ts";
import { childText, findChild, findChildren, readXml, type XmlNode } from "../body/xml-reader.ts";
import type { XmlElement } from "../body/xml-writer.ts";
import { S3Error } from "../errors.ts";
import type { S3Request } from "../request.ts";
import { parseTagHeader } from "../tag-header.ts";

/** Reads x-amz-tagging, which has the form of a URL query. */
export function readTagHeader(request: S3Request): Tags | undefined {
  const header = request.header("x-amz-tagging");
  if (header === undefined) return undefined;
  return checked(parseTagHeader(header));
}

/** Checks the tags before a body is read. An object without tags has no map. */
function checked(tags: Tags): Tags | undefined {
  checkTags(tags, maxObjectTags);
  return tags.size === 0 ? undefined : tags;
}

/** Reads the form field `tagging`, which is a document. */
export function readTagField(text: string | undefined): Tags | undefined {
  return text === undefined ? undefined : checked(readTagging(Buffer.from(text, "utf8")));
}

/** Reads a Tagging document. */
export function readTagging(bytes: Uint8Array): Tags {
  const set = findChild(readXml(bytes, "Tagging"), "TagSet");
  if (set === undefined) throw new S3Error("MalformedXML");
  return readTags(findChildren(set, "Tag"));
}

/** Reads Tag elements, each with a key and a value. */
export function readTags(nodes: readonly XmlNode[]): Tags {
  const tags = new Map<string, string>();
  for (const node of nodes) {
    const [key, value] = [childText(node, "Key"), childText(node, "Value")];
    if (key === undefined || value === undefined) throw new S3Error("MalformedXML");
    if (tags.has(key))
      throw new S3Error("InvalidTag", {
        message: "Cannot provide multiple Tags with the same key",
        details: { TagKey: key },
      });
    tags.set(key, value);
  }
  return tags;
}

/** Returns a TagSet element. The tags are sorted by key, because S3 keeps no order either. */
export function tagSetElement(tags: Iterable<readonly [string, string]>): XmlElement {
  const sorted = [...tags].sort(([a], [b]) => compareKeys(a, b));
  return ["TagSet", sorted.map(tagElement)];
}

export function tagElement([key, value]: readonly [string, string]): XmlElement {
  return [
    "Tag",
    [
      ["Key", key],
      ["Value", value],
    ],
  ];
}
