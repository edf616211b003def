// Reads the XML that S3 clients send: elements and text, nothing else. No DOCTYPE, so no entities of one's own;
// depth, count and size are bounded. Text is never trimmed where it is a leaf.
import { S3Error } from "./errors.ts";

export interface XmlNode {
  /** Without its namespace prefix. */
  readonly name: string;
  readonly children: readonly XmlNode[];
  /** All text in it; what surrounds children is only layout. */
  readonly text: string;
}

const deepest = 16;
const most = 100_000;

/** One token: a comment, an instruction, CDATA, a tag, or text before the next of these. */
const token =
  /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[([\s\S]*?)\]\]>|<(\/?)([A-Za-z_][\w.:-]*)((?:\s+[A-Za-z_][\w.:-]*\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|([^<]+)/y;

interface OpenNode {
  readonly name: string;
  readonly children: XmlNode[];
  text: string;
}

export function readXml(bytes: Uint8Array, root: string): XmlNode {
  const text = decodeText(bytes);
  const top: OpenNode = { name: "", children: [], text: "" };
  const open: OpenNode[] = [top];
  let count = 0;
  token.lastIndex = 0;
  while (token.lastIndex < text.length) {
    const match = token.exec(text);
    if (match === null || ++count > most) throw malformed();
    const [, cdata, closing, tag, , empty, plain] = match;
    const current = open.at(-1)!;
    if (cdata !== undefined) current.text += cdata;
    else if (plain !== undefined) current.text += unescapeXml(plain);
    else if (tag === undefined) continue;
    else if (closing === "/") close(open, localName(tag));
    else {
      if (open.length > deepest) throw malformed();
      const node: OpenNode = { name: localName(tag), children: [], text: "" };
      current.children.push(node);
      if (empty !== "/") open.push(node);
    }
  }
  const [only] = top.children;
  if (open.length !== 1 || top.children.length !== 1 || only?.name !== root || top.text.trim() !== "") {
    throw malformed();
  }
  return only;
}

function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new S3Error("MalformedXML", { cause });
  }
}

function close(open: OpenNode[], name: string): void {
  if (open.length === 1 || open.pop()!.name !== name) throw malformed();
}

function localName(tag: string): string {
  return tag.slice(tag.indexOf(":") + 1);
}

const named = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
]);

function unescapeXml(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(#x([0-9a-fA-F]{1,6})|#(\d{1,7})|\w*)(;?)/g, (_, name, hex, decimal, end) => {
    if (end !== ";") throw malformed();
    if (hex === undefined && decimal === undefined) {
      const known = named.get(name);
      if (known === undefined) throw malformed();
      return known;
    }
    const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) throw malformed();
    return String.fromCodePoint(point);
  });
}

function malformed(): S3Error {
  return new S3Error("MalformedXML");
}

export function childOf(node: XmlNode | undefined, name: string): XmlNode | undefined {
  return node?.children.find((child) => child.name === name);
}

export function childrenOf(node: XmlNode | undefined, name: string): XmlNode[] {
  return node?.children.filter((child) => child.name === name) ?? [];
}

export function textOf(node: XmlNode | undefined, name: string): string | undefined {
  return childOf(node, name)?.text;
}
