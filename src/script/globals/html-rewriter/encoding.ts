// Converts between the bytes of a document and the text of a script. The rewriter handles a
// document as a byte string: markup is ASCII, so untouched parts can be written unchanged.
import { Buffer } from "node:buffer";

/** Encodes a script's text as a UTF-8 byte string. */
export function bytesFromText(text: string): string {
  return /[^\x00-\x7f]/.test(text) ? Buffer.from(text, "utf8").toString("latin1") : text;
}

/** Decodes a byte string for a script; invalid UTF-8 becomes U+FFFD. */
export function textFromBytes(bytes: string): string {
  return /[^\x00-\x7f]/.test(bytes) ? Buffer.from(bytes, "latin1").toString("utf8") : bytes;
}

/** Converts only ASCII letters, as HTML does when it compares names. */
export function lowerCase(bytes: string): string {
  return /[A-Z]/.test(bytes) ? bytes.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : bytes;
}

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

export function escapeText(text: string): string {
  return text.replace(/[&<>]/g, (character) => escapes[character]!);
}

/** Number of bytes at the end that may belong to an incomplete character. */
export function unfinishedCharacter(bytes: string): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes.charCodeAt(bytes.length - back);
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}
