// Splits the raw target of a request: a URL object would resolve `..`, which keys may contain.

export interface TargetParts {
  /** As sent, with its leading slash. */
  readonly rawPath: string;
  /** After the question mark; empty without one. */
  readonly rawQuery: string;
}

export function splitTarget(text: string): TargetParts {
  const target = text.replace(/^https?:\/\/[^/?]*/i, "");
  const mark = target.indexOf("?");
  const rawPath = mark === -1 ? target : target.slice(0, mark);
  return { rawPath: rawPath === "" ? "/" : rawPath, rawQuery: mark === -1 ? "" : target.slice(mark + 1) };
}

const encoded = /[%\x80-\xff]/;

/** Percent-decodes the text once. Undefined when the bytes, encoded or raw, are not valid UTF-8. */
export function decodeTarget(text: string): string | undefined {
  if (!encoded.test(text)) return text;
  try {
    // Node represents a raw byte above 127 as one character.
    const escaped = text.replace(/[\x80-\xff]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
    return decodeURIComponent(escaped);
  } catch {
    return undefined;
  }
}
