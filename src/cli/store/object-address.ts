// `<bucket>/<key>` as typed: everything behind the first slash is the key, byte for byte, never normalised.
import { parseScheme } from "../../model/location.ts";
import { usageError } from "../framework/command-error.ts";

export interface ObjectAddress {
  readonly bucket: string;
  readonly key: string;
}

export function objectAddress(text: string): ObjectAddress {
  refuseUrl(text);
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
  refuseUrl(text);
  if (!text.includes("/")) return { bucket: text, prefix: "" };
  const { bucket, key } = objectAddress(text);
  return { bucket, prefix: key };
}

/** No bucket's name has a colon. The rest of a URL is not repeated: it may hold a password. */
function refuseUrl(text: string): void {
  const scheme = parseScheme(text);
  if (scheme === undefined) return;
  const [, rest = ""] = /^s3:\/\/([^@]*)$/i.exec(text) ?? [];
  throw usageError(`A bucket of this store is written by its name alone, not as a URL with "${scheme}"`, [
    rest === "" ? "For example: photos/2026" : `Write: ${rest}`,
    "Objects of another S3 service are brought in by: store import https://host/bucket photos",
  ]);
}
