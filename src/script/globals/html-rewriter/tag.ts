// Scans tags and their attributes. A start tag can be changed attribute by attribute; all other
// bytes remain as written.
import { bytesFromText, lowerCase, textFromBytes } from "./encoding.ts";

/** Offsets from the beginning of the tag. */
interface AttributeSpan {
  /** Start of the whitespace before the attribute. */
  readonly start: number;
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
  /** Offset after the closing quote. */
  readonly end: number;
}

export interface ScannedTag {
  readonly raw: string;
  /** Tag name in lower case. */
  readonly name: string;
  readonly nameEnd: number;
  readonly spans: readonly AttributeSpan[];
  readonly selfClosing: boolean;
}

const tagNameEnd = /[\t\n\f\r />]/g;
const attributeNameEnd = /[\t\n\f\r />=]/g;
const unquotedEnd = /[\t\n\f\r >]/g;
const spaceEnd = /[^\t\n\f\r ]/g;
const gapEnd = /[^\t\n\f\r /]/g;

/** Returns the index of the next match, or the length of the text. */
function find(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  const match = pattern.exec(text);
  return match === null ? text.length : match.index;
}

/** Scans the tag whose name begins at `nameStart`; undefined when the tag is incomplete. */
export function scanTag(text: string, start: number, nameStart: number): ScannedTag | undefined {
  const nameStop = find(tagNameEnd, text, nameStart);
  const spans: AttributeSpan[] = [];
  let at = nameStop;
  for (;;) {
    const gap = text[at] === ">" ? at : find(gapEnd, text, at);
    if (gap >= text.length) return undefined;
    if (text[gap] === ">") {
      return {
        raw: text.slice(start, gap + 1),
        name: lowerCase(text.slice(nameStart, nameStop)),
        nameEnd: nameStop - start,
        spans,
        selfClosing: gap > at && text[gap - 1] === "/",
      };
    }
    const span = scanAttribute(text, start, at, gap);
    if (span === undefined) return undefined;
    spans.push(span);
    at = start + span.end;
  }
}

/** Returns offsets from the beginning of the tag. */
function scanAttribute(text: string, tag: number, space: number, name: number): AttributeSpan | undefined {
  // An equals sign as the first character belongs to the name, as in HTML.
  const nameStop = find(attributeNameEnd, text, name + 1);
  const equals = find(spaceEnd, text, nameStop);
  if (equals >= text.length) return undefined;
  const start = space - tag;
  const nameStart = name - tag;
  const nameEnd = nameStop - tag;
  if (text[equals] !== "=") {
    return { start, nameStart, nameEnd, valueStart: nameEnd, valueEnd: nameEnd, end: nameEnd };
  }
  const value = find(spaceEnd, text, equals + 1);
  if (value >= text.length) return undefined;
  const valueStart = value - tag;
  const quote = text[value]!;
  if (quote === '"' || quote === "'") {
    const valueEnd = text.indexOf(quote, value + 1) - tag;
    if (valueEnd < 0) return undefined;
    return { start, nameStart, nameEnd, valueStart: valueStart + 1, valueEnd, end: valueEnd + 1 };
  }
  const valueEnd = quote === ">" ? valueStart : find(unquotedEnd, text, value) - tag;
  return { start, nameStart, nameEnd, valueStart, valueEnd, end: valueEnd };
}

/** Returns the raw value; if the name is repeated, the first value. */
export function findAttribute({ raw, spans }: ScannedTag, name: string): string | undefined {
  for (const span of spans) {
    if (lowerCase(raw.slice(span.nameStart, span.nameEnd)) === name)
      return raw.slice(span.valueStart, span.valueEnd);
  }
  return undefined;
}

interface Attribute {
  readonly name: string;
  readonly value: string;
  /** The attribute as written, including the whitespace before it. */
  readonly raw: string;
}

export interface EditableTag {
  /** Names and values, decoded as text. */
  attributes(): [string, string][];
  get(name: string): string | undefined;
  set(name: string, value: string): void;
  remove(name: string): void;
  rename(name: string): void;
  /** Returns the tag as bytes; if nothing was modified, exactly as it was read. */
  write(): string;
}

export function editableTag(tag: ScannedTag): EditableTag {
  let list: Attribute[] | undefined;
  let newName: string | undefined;
  let isChanged = false;

  function parseAttributes(): Attribute[] {
    list ??= tag.spans.map((span) => ({
      name: lowerCase(tag.raw.slice(span.nameStart, span.nameEnd)),
      value: tag.raw.slice(span.valueStart, span.valueEnd),
      raw: tag.raw.slice(span.start, span.end),
    }));
    return list;
  }

  return {
    attributes: () => parseAttributes().map(({ name, value }) => [textFromBytes(name), textFromBytes(value)]),
    get(name) {
      const expectedName = bytesFromText(name.toLowerCase());
      const found = parseAttributes().find((attribute) => attribute.name === expectedName);
      return found === undefined ? undefined : textFromBytes(found.value);
    },
    set(name, value) {
      const bytes = bytesFromText(checkName(name, "attribute"));
      const text = bytesFromText(value.replaceAll('"', "&quot;"));
      const lowerName = lowerCase(bytes);
      const all = parseAttributes();
      const index = all.findIndex((attribute) => attribute.name === lowerName);
      if (index === -1) all.push({ name: lowerName, value: text, raw: ` ${bytes}="${text}"` });
      else all[index] = { name: lowerName, value: text, raw: `${writtenName(all[index]!)}="${text}"` };
      isChanged = true;
    },
    remove(name) {
      const expectedName = bytesFromText(name.toLowerCase());
      // Removes every attribute of this name; otherwise a repeated attribute would take effect.
      const remaining = parseAttributes().filter((attribute) => attribute.name !== expectedName);
      isChanged ||= remaining.length < parseAttributes().length;
      list = remaining;
    },
    rename(name) {
      newName = bytesFromText(checkName(name, "tag"));
      isChanged = true;
    },
    write: () => (isChanged ? writeTag(tag, newName, parseAttributes()) : tag.raw),
  };
}

function writtenName({ raw, name }: Attribute): string {
  return raw.slice(0, lowerCase(raw).indexOf(name) + name.length);
}

function writeTag(tag: ScannedTag, newName: string | undefined, attributes: readonly Attribute[]): string {
  let text = `<${newName ?? tag.raw.slice(1, tag.nameEnd)}`;
  // Adds a space if the whitespace before this attribute was removed with another attribute.
  for (const { raw } of attributes) text += /^[\t\n\f\r ]/.test(raw) ? raw : ` ${raw}`;
  const tail = tag.raw.slice(tag.spans.at(-1)?.end ?? tag.nameEnd);
  // A slash directly after an unquoted value would become part of the value.
  const needsSpace = tail.startsWith("/") && attributes.length > 0 && !/["']$/.test(text);
  return text + (needsSpace ? " " : "") + tail;
}

export function checkName(name: string, kind: "attribute" | "tag"): string {
  const isName = kind === "tag" ? /^[A-Za-z][^\t\n\f\r />]*$/ : /^[^\t\n\f\r />="'<]+$/;
  if (isName.test(name)) return name;
  throw new TypeError(`${JSON.stringify(name)} is not a valid name of an HTML ${kind}.`);
}
