// Parses `<bucket>/<key>`. Everything after the first slash is the key, which is never normalized.
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
      `"${text}" is not an object: write bucket and key with a slash between them.`,
      `For example: ${text === "" ? "photos" : text}/cat.jpg`,
    );
  }
  return { bucket: text.slice(0, slash), key: text.slice(slash + 1) };
}

/** `<bucket>[/prefix]` */
export function prefixAddress(text: string): { readonly bucket: string; readonly prefix: string } {
  refuseUrl(text);
  if (!text.includes("/")) return { bucket: text, prefix: "" };
  const { bucket, key } = objectAddress(text);
  return { bucket, prefix: key };
}

/** A bucket name has no colon. The message shows only the scheme: a URL may contain a password. */
function refuseUrl(text: string): void {
  const scheme = parseScheme(text);
  if (scheme === undefined) return;
  const [, rest = ""] = /^s3:\/\/([^@]*)$/i.exec(text) ?? [];
  throw usageError(`Write a bucket of this store as its name, not as a URL with "${scheme}"`, [
    rest === "" ? "For example: photos/2026" : `Write: ${rest}`,
    "To import from another S3 service: store import https://host/bucket photos",
  ]);
}
