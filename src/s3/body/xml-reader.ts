// Parses the XML of S3 clients in one pass, with limits on depth, markup and text. DOCTYPE is
// refused, so a document cannot define entities.
import { unescapeXml } from "../../http/xml-entities.ts";
import { S3Error } from "../errors.ts";

export interface XmlNode {
  /** Name of the element, without its namespace prefix. */
  readonly name: string;
  readonly children: readonly XmlNode[];
  /** Text, never trimmed; empty for an element with children, where text is only indentation. */
  readonly text: string;
}

export const xmlLimits = {
  depth: 16,
  /** Maximum total of elements, attributes, comments, instructions and CDATA sections. */
  markup: 20_000,
  /** Maximum characters in one element; a key has at most 1,024 bytes. */
  text: 16_384,
} as const;

interface OpenNode {
  readonly name: string;
  readonly children: XmlNode[];
  text: string;
}

const openingName = /<([A-Za-z_][\w.:-]*)/y;
const closingTag = /<\/([A-Za-z_][\w.:-]*)\s*>/y;
const attribute = /\s+[A-Za-z_][\w.:-]*\s*=\s*(?:"[^"<]*"|'[^'<]*')/y;
const tagEnd = /\s*(\/?)>/y;

export interface ReadXmlOptions {
  /** Limit on markup; default: `xmlLimits.markup`. */
  readonly markup?: number;
}

export function readXml(
  bytes: Uint8Array,
  root: string,
  { markup: maxMarkup = xmlLimits.markup }: ReadXmlOptions = {},
): XmlNode {
  const document = decodeText(bytes);
  const top: OpenNode = { name: "", children: [], text: "" };
  const open: OpenNode[] = [top];
  let at = 0;
  let markup = 0;

  function count(): void {
    if (++markup > maxMarkup) throw malformed();
  }

  function match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = at;
    const found = pattern.exec(document);
    if (found === null) return undefined;
    at = pattern.lastIndex;
    return found;
  }

  /** Reads the text between `from`, which is at the current position, and `to`. */
  function readEnclosed(from: string, to: string): string {
    const end = document.indexOf(to, at + from.length);
    if (end === -1) throw malformed();
    const content = document.slice(at + from.length, end);
    at = end + to.length;
    return content;
  }

  function addText(text: string): void {
    const node = open.at(-1)!;
    if (node === top && text.trim() !== "") throw malformed();
    if (node === top || node.children.length > 0) return;
    if (node.text.length + text.length > xmlLimits.text) throw malformed();
    node.text += text;
  }

  function readText(): void {
    const next = document.indexOf("<", at);
    const end = next === -1 ? document.length : next;
    if (end - at > maxRunLength) throw malformed();
    const text = unescapeXml(document, at, end);
    if (text === undefined) throw malformed();
    addText(text);
    at = end;
  }

  function openElement(): void {
    const tag = match(openingName)?.[1];
    if (tag === undefined || open.length > xmlLimits.depth) throw malformed();
    while (match(attribute) !== undefined) count();
    const end = match(tagEnd);
    if (end === undefined) throw malformed();
    const node: OpenNode = { name: localName(tag), children: [], text: "" };
    const parent = open.at(-1)!;
    parent.children.push(node);
    parent.text = "";
    if (end[1] !== "/") open.push(node);
  }

  function closeElement(): void {
    const tag = match(closingTag)?.[1];
    if (tag === undefined || open.length === 1 || open.pop()!.name !== localName(tag)) throw malformed();
  }

  function readMarkup(): void {
    if (document.startsWith("</", at)) {
      closeElement();
      return;
    }
    count();
    if (document.startsWith("<!--", at)) readEnclosed("<!--", "-->");
    else if (document.startsWith("<?", at)) readEnclosed("<?", "?>");
    else if (document.startsWith("<![CDATA[", at)) addText(readEnclosed("<![CDATA[", "]]>"));
    else openElement();
  }

  while (at < document.length) {
    if (document.charCodeAt(at) === lessThan) readMarkup();
    else readText();
  }
  const [only] = top.children;
  if (open.length !== 1 || top.children.length !== 1 || only?.name !== root) throw malformed();
  return only;
}

const lessThan = 0x3c;
/** Limit on text before unescaping: a character reference has at most ten characters. */
const maxRunLength = 10 * xmlLimits.text;

function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new S3Error("MalformedXML", { cause });
  }
}

function localName(tag: string): string {
  return tag.slice(tag.indexOf(":") + 1);
}

function malformed(): S3Error {
  return new S3Error("MalformedXML");
}

export function findChild(node: XmlNode | undefined, name: string): XmlNode | undefined {
  return node?.children.find((child) => child.name === name);
}

export function findChildren(node: XmlNode | undefined, name: string): XmlNode[] {
  return node?.children.filter((child) => child.name === name) ?? [];
}

export function childText(node: XmlNode | undefined, name: string): string | undefined {
  return findChild(node, name)?.text;
}
