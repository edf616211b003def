// Between a document's bytes and a script's text. Inside the rewriter a document is a string of one character
// a byte: markup is ASCII, so it can be cut anywhere, and what is not touched goes out as it came in.

/** What a script wrote, as bytes in UTF-8. */
export function bytesFromText(text: string): string {
  return /[^\x00-\x7f]/.test(text) ? Buffer.from(text, "utf8").toString("latin1") : text;
}

/** What a script reads; bytes that are no UTF-8 show as U+FFFD. */
export function textFromBytes(bytes: string): string {
  return /[^\x00-\x7f]/.test(bytes) ? Buffer.from(bytes, "latin1").toString("utf8") : bytes;
}

/** Names are compared without the case of ASCII letters, and of those alone. */
export function lowerCase(bytes: string): string {
  return /[A-Z]/.test(bytes) ? bytes.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : bytes;
}

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

export function escapeText(text: string): string {
  return text.replace(/[&<>]/g, (character) => escapes[character]!);
}

/** How many bytes at the end may be the beginning of a character whose rest is still to come. */
export function unfinishedCharacter(bytes: string): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes.charCodeAt(bytes.length - back);
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}
