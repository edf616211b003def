// The five entities of XML and character references, read in one pass that ends at the first fault.

const ampersand = 0x26;
const semicolon = 0x3b;
/** `#1114111` */
const maxNameLength = 8;

/** The text between two positions with its entities replaced; undefined when one of them is not valid. */
export function unescapeXml(text: string, start: number, end: number): string | undefined {
  let parts: string[] | undefined;
  let done = start;
  for (let at = start; at < end; at++) {
    if (text.charCodeAt(at) !== ampersand) continue;
    const close = nameEnd(text, at + 1, end);
    const character = close === undefined ? undefined : decodeEntity(text, at + 1, close);
    if (close === undefined || character === undefined) return undefined;
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

/** Looks no further than the longest name: a search for the semicolon could cross the whole document. */
function nameEnd(text: string, from: number, end: number): number | undefined {
  const limit = Math.min(from + maxNameLength + 1, end);
  for (let at = from; at < limit; at++) if (text.charCodeAt(at) === semicolon) return at;
  return undefined;
}

function decodeEntity(text: string, start: number, end: number): string | undefined {
  const name = text.slice(start, end);
  switch (name) {
    case "amp":
      return "&";
    case "lt":
      return "<";
    case "gt":
      return ">";
    case "quot":
      return '"';
    case "apos":
      return "'";
    default:
      return decodeCharacterReference(name);
  }
}

function decodeCharacterReference(name: string): string | undefined {
  const match = /^#(?:x([0-9a-fA-F]{1,6})|(\d{1,7}))$/.exec(name);
  if (match === null) return undefined;
  const point = match[1] === undefined ? Number(match[2]) : Number.parseInt(match[1], 16);
  if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return undefined;
  return String.fromCodePoint(point);
}
