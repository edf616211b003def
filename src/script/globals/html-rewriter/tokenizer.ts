// Splits a document into tokens as its bytes arrive. Every byte is in exactly one token, so that
// writing all tokens restores the document.
import { createRawText, type RawText } from "./raw-text.ts";
import { type ScannedTag, scanTag } from "./tag.ts";

export type Token =
  | { readonly kind: "text"; readonly raw: string }
  | { readonly kind: "start"; readonly raw: string; readonly tag: ScannedTag }
  | { readonly kind: "end"; readonly raw: string; readonly name: string }
  /** `from` and `to` are the offsets of the comment's text. */
  | { readonly kind: "comment"; readonly raw: string; readonly from: number; readonly to: number }
  | { readonly kind: "doctype"; readonly raw: string }
  /** A token for which no handler exists; it is written unchanged. */
  | { readonly kind: "other"; readonly raw: string };

export interface Tokenizer {
  feed(bytes: string): void;
  /** Ends the input; `next` then returns an incomplete token as it is. */
  end(): void;
  /** Undefined when more input is needed. */
  next(): Token | undefined;
  /** Call after the start tag of an element that contains only text. */
  expectRawText(name: string): void;
  /** Whether CDATA sections are recognized, as in SVG and MathML. */
  allowCdata(isAllowed: boolean): void;
}

/** Maximum size of a tag or comment: it is held in memory until it is complete. */
const maxTokenLength = 16 * 1024 * 1024;

export function createTokenizer(): Tokenizer {
  let text = "";
  let at = 0;
  let isLast = false;
  let rawText: RawText | undefined;
  let hasCdata = false;

  function take(token: Token): Token {
    at += token.raw.length;
    return token;
  }

  function nextRawText(ends: RawText): Token | undefined {
    const { end, isClosed } = ends(text, at, isLast);
    if (isClosed) rawText = undefined;
    if (end > at) return take({ kind: "text", raw: text.slice(at, end) });
    return isClosed ? nextMarkup() : undefined;
  }

  function nextMarkup(): Token | undefined {
    const token = markupAt(text, at, hasCdata);
    if (token !== undefined) return take(token);
    if (isLast) return take({ kind: "other", raw: text.slice(at) });
    if (text.length - at > maxTokenLength) {
      throw new RangeError(
        `A tag or comment is longer than ${maxTokenLength} bytes: HTMLRewriter cannot hold it.`,
      );
    }
    return undefined;
  }

  return {
    feed(bytes) {
      text = at < text.length ? text.slice(at) + bytes : bytes;
      at = 0;
    },
    end() {
      isLast = true;
    },
    next() {
      if (at >= text.length) return undefined;
      if (rawText !== undefined) return nextRawText(rawText);
      const open = text[at] === "<" ? at : text.indexOf("<", at);
      if (open === at) return nextMarkup();
      return take({ kind: "text", raw: text.slice(at, open === -1 ? text.length : open) });
    },
    expectRawText(name) {
      rawText = createRawText(name);
    },
    allowCdata(isAllowed) {
      hasCdata = isAllowed;
    },
  };
}

/** Returns the token that begins with the "<" at this offset. */
function markupAt(text: string, at: number, hasCdata: boolean): Token | undefined {
  const next = text[at + 1];
  if (next === undefined) return undefined;
  if (isLetter(next)) {
    const tag = scanTag(text, at, at + 1);
    return tag && { kind: "start", raw: tag.raw, tag };
  }
  if (next === "/") return endTagAt(text, at);
  if (next === "!") return declarationAt(text, at, hasCdata);
  if (next === "?") return commentUntil(text, at, 1);
  const open = text.indexOf("<", at + 1);
  return { kind: "text", raw: text.slice(at, open === -1 ? text.length : open) };
}

function isLetter(character: string): boolean {
  return (character >= "a" && character <= "z") || (character >= "A" && character <= "Z");
}

function endTagAt(text: string, at: number): Token | undefined {
  const first = text[at + 2];
  if (first === undefined) return undefined;
  if (first === ">") return { kind: "other", raw: "</>" };
  if (!isLetter(first)) return commentUntil(text, at, 2);
  const tag = scanTag(text, at, at + 2);
  return tag && { kind: "end", raw: tag.raw, name: tag.name };
}

const maxOpeningLength = "<![CDATA[".length;

function declarationAt(text: string, at: number, hasCdata: boolean): Token | undefined {
  const opening = text.slice(at, at + maxOpeningLength);
  if (opening.startsWith("<!--")) return commentAt(text, at);
  if (/^<!doctype/i.test(opening)) {
    const close = text.indexOf(">", at);
    return close === -1 ? undefined : { kind: "doctype", raw: text.slice(at, close + 1) };
  }
  if (hasCdata && opening === "<![CDATA[") {
    const close = text.indexOf("]]>", at);
    return close === -1 ? undefined : { kind: "other", raw: text.slice(at, close + 3) };
  }
  const mayBecome = ["<!--", "<!doctype", ...(hasCdata ? ["<![cdata["] : [])];
  if (mayBecome.some((prefix) => prefix.startsWith(opening.toLowerCase()))) return undefined;
  return commentUntil(text, at, 2);
}

const commentEnd = /--!?>/g;

function commentAt(text: string, at: number): Token | undefined {
  const abrupt = /^-?>/.exec(text.slice(at + 4, at + 6));
  if (abrupt !== null) {
    return { kind: "comment", raw: text.slice(at, at + 4 + abrupt[0].length), from: 4, to: 4 };
  }
  commentEnd.lastIndex = at + 4;
  const close = commentEnd.exec(text);
  if (close === null) return undefined;
  return {
    kind: "comment",
    raw: text.slice(at, close.index + close[0].length),
    from: 4,
    to: close.index - at,
  };
}

/** Reads a comment that ends at the next ">", which HTML calls a bogus comment. */
function commentUntil(text: string, at: number, from: number): Token | undefined {
  const close = text.indexOf(">", at + from);
  return close === -1 ? undefined : { kind: "comment", raw: text.slice(at, close + 1), from, to: close - at };
}
