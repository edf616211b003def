// `<bucket>/<key>` as typed: everything behind the first slash is the key, byte for byte, never normalised.
import { usageError } from "./command-error.ts";

export interface ObjectAddress {
  readonly bucket: string;
  readonly key: string;
}

export function objectAddress(text: string): ObjectAddress {
  const slash = text.indexOf("/");
  if (slash === -1) {
    throw usageError(
      `"${text}" names no object: bucket and key belong together, with a slash between them.`,
      `For example: ${text === "" ? "photos" : text}/cat.jpg`,
    );
  }
  return { bucket: text.slice(0, slash), key: text.slice(slash + 1) };
}

export interface PrefixAddress {
  readonly bucket: string;
  readonly prefix: string;
}

/** `<bucket>[/prefix]` */
export function prefixAddress(text: string): PrefixAddress {
  if (!text.includes("/")) return { bucket: text, prefix: "" };
  const { bucket, key } = objectAddress(text);
  return { bucket, prefix: key };
}
