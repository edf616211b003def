// Converts between a document's bytes and a script's text. Inside the rewriter a document is a byte string:
// markup is ASCII, so it can be cut anywhere, and untouched parts are written unchanged.

/** Text of a script as UTF-8 byte string. */
export function bytesFromText(text: string): string {
  return /[^\x00-\x7f]/.test(text) ? Buffer.from(text, "utf8").toString("latin1") : text;
}

/** Text for a script; invalid UTF-8 becomes U+FFFD. */
export function textFromBytes(bytes: string): string {
  return /[^\x00-\x7f]/.test(bytes) ? Buffer.from(bytes, "latin1").toString("utf8") : bytes;
}

/** Names are compared ignoring the case of ASCII letters only. */
export function lowerCase(bytes: string): string {
  return /[A-Z]/.test(bytes) ? bytes.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : bytes;
}

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

export function escapeText(text: string): string {
  return text.replace(/[&<>]/g, (character) => escapes[character]!);
}

/** Number of bytes at the end that may be an incomplete character. */
export function unfinishedCharacter(bytes: string): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes.charCodeAt(bytes.length - back);
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}
