// Parses `<bucket>/<key>` and `s3://<bucket>/<key>`. Everything after the first slash of the address
// is the key, which is never normalized.
import { parseScheme } from "../../model/names/location.ts";
import { usageError } from "../framework/command-error.ts";

export interface ObjectAddress {
  readonly bucket: string;
  readonly key: string;
}

export function objectAddress(given: string): ObjectAddress {
  const text = withoutScheme(given);
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
export function prefixAddress(given: string): { readonly bucket: string; readonly prefix: string } {
  const text = withoutScheme(given);
  if (!text.includes("/")) return { bucket: text, prefix: "" };
  const { bucket, key } = objectAddress(text);
  return { bucket, prefix: key };
}

/** A bucket name has no colon. The message shows only the scheme: a URL may contain a password. */
function withoutScheme(text: string): string {
  const scheme = parseScheme(text);
  if (scheme === undefined) return text;
  const [, address] = /^s3:\/\/([^@?#:]*(?:\/.*)?)$/is.exec(text) ?? [];
  if (address !== undefined) return address;
  throw usageError(`Write an object as bucket/key or s3://bucket/key, not as a URL with "${scheme}"`, [
    "For example: photos/2026/cat.jpg",
    "An object of another service: add a profile, then write --profile NAME",
  ]);
}
