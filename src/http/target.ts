// Splits the raw target of a request: a URL object would resolve `..`, which keys may contain.

export interface TargetParts {
  /** Path as sent, with its leading slash. */
  readonly rawPath: string;
  /** The part after the question mark; empty if there is none. */
  readonly rawQuery: string;
}

export function splitTarget(text: string): TargetParts {
  const target = text.replace(/^https?:\/\/[^/?]*/i, "");
  const mark = target.indexOf("?");
  const rawPath = mark === -1 ? target : target.slice(0, mark);
  return { rawPath: rawPath === "" ? "/" : rawPath, rawQuery: mark === -1 ? "" : target.slice(mark + 1) };
}

const encoded = /[%\x80-\xff]/;

/** Percent-decodes the text once; returns undefined if the result is not valid UTF-8. */
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
