// The target of a request as it came, taken apart by hand: a URL object would fold `..` and `%2e`, which are keys.

export interface TargetParts {
  /** As it came, with its leading slash. */
  readonly rawPath: string;
  /** Behind the question mark; empty without one. */
  readonly rawQuery: string;
}

export function splitTarget(text: string): TargetParts {
  const target = text.replace(/^https?:\/\/[^/?]*/i, "");
  const mark = target.indexOf("?");
  const rawPath = mark === -1 ? target : target.slice(0, mark);
  return { rawPath: rawPath === "" ? "/" : rawPath, rawQuery: mark === -1 ? "" : target.slice(mark + 1) };
}

const encoded = /[%\x80-\xff]/;

/** Decoded once. What is percent-encoded must be UTF-8, and bytes sent raw are taken as UTF-8 too; undefined when not. */
export function decodeTarget(text: string): string | undefined {
  if (!encoded.test(text)) return text;
  try {
    // Node gives raw bytes above 127 as one character each.
    const escaped = text.replace(/[\x80-\xff]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
    return decodeURIComponent(escaped);
  } catch {
    return undefined;
  }
}
