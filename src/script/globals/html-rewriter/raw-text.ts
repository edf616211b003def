// Finds the end tag of an element that contains only text. In a script element, an end tag does not
// count inside a comment that contains another <script>.

/** Result of scanning the text, starting at `from`. */
export interface RawTextPart {
  /** Everything before this offset is text. */
  readonly end: number;
  /** Whether the end tag begins at `end`; otherwise more input is needed. */
  readonly isClosed: boolean;
}

export type RawText = (text: string, from: number, isLast: boolean) => RawTextPart;

export function createRawText(name: string): RawText {
  if (name === "plaintext") return (text) => ({ end: text.length, isClosed: false });
  return name === "script" ? createScriptText() : createPlainText(name);
}

function createPlainText(name: string): RawText {
  const endTag = new RegExp(`</${name}(?=[\\t\\n\\f\\r />])`, "gi");
  return (text, from, isLast) => {
    endTag.lastIndex = from;
    const found = endTag.exec(text);
    if (found !== null) return { end: found.index, isClosed: true };
    return { end: isLast ? text.length : findOpenEnd(text, from, name.length + 2), isClosed: false };
  };
}

/** Returns the offset of a possibly incomplete tag in the last bytes, or the text's length. */
function findOpenEnd(text: string, from: number, maxLength: number): number {
  const start = Math.max(from, text.length - maxLength);
  const open = text.indexOf("<", start);
  return open === -1 ? text.length : open;
}

const scriptMarks = /<!--|-->|<(\/?)script(?=[\t\n\f\r />])/gi;

/** Tracks the HTML states "script data escaped" and "double escaped" across chunks. */
function createScriptText(): RawText {
  let depth: 0 | 1 | 2 = 0;
  return (text, from, isLast) => {
    let at = from;
    for (;;) {
      scriptMarks.lastIndex = at;
      const found = scriptMarks.exec(text);
      if (found === null) break;
      const [mark, slash] = found;
      if (mark === "<!--") {
        if (depth === 0) depth = 1;
        // The dashes of "<!--" may also be part of "-->", as in "<!-->".
        at = found.index + 2;
      } else if (mark === "-->") {
        depth = 0;
        at = found.index + 3;
      } else if (slash === "/") {
        if (depth < 2) return { end: found.index, isClosed: true };
        depth = 1;
        at = found.index + mark.length;
      } else {
        if (depth === 1) depth = 2;
        at = found.index + mark.length;
      }
    }
    if (isLast) return { end: text.length, isClosed: false };
    return { end: findOpenMark(text, at), isClosed: false };
  };
}

function findOpenMark(text: string, from: number): number {
  let dashes = text.length;
  while (dashes > from && dashes > text.length - 2 && text[dashes - 1] === "-") dashes--;
  return Math.min(dashes, findOpenEnd(text, from, "</script".length));
}
