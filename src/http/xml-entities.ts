// Replaces the predefined entities of XML and character references in text.

const ampersand = 0x26;
const semicolon = 0x3b;
/** Length of the longest reference, `#1114111`. */
const maxNameLength = 8;
const entities: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
]);

/** Replaces the entities between `start` and `end`; returns undefined if one is not valid. */
export function unescapeXml(text: string, start = 0, end = text.length): string | undefined {
  let parts: string[] | undefined;
  let done = start;
  for (let at = start; at < end; at++) {
    if (text.charCodeAt(at) !== ampersand) continue;
    const close = nameEnd(text, at + 1, end);
    if (close === undefined) return undefined;
    const name = text.slice(at + 1, close);
    const character = entities.get(name) ?? decodeCharacterReference(name);
    if (character === undefined) return undefined;
    parts ??= [];
    if (at > done) parts.push(text.slice(done, at));
    parts.push(character);
    done = close + 1;
    at = close;
  }
  if (parts === undefined) return text.slice(start, end);
  parts.push(text.slice(done, end));
  return parts.join("");
}

/** Searches no further than the longest valid name, so as not to scan the whole document. */
function nameEnd(text: string, from: number, end: number): number | undefined {
  const limit = Math.min(from + maxNameLength + 1, end);
  for (let at = from; at < limit; at++) if (text.charCodeAt(at) === semicolon) return at;
  return undefined;
}

function decodeCharacterReference(name: string): string | undefined {
  const match = /^#(?:x([0-9a-fA-F]{1,6})|(\d{1,7}))$/.exec(name);
  if (match === null) return undefined;
  const point = match[1] === undefined ? Number(match[2]) : Number.parseInt(match[1], 16);
  if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return undefined;
  return String.fromCodePoint(point);
}
