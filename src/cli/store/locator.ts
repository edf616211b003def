// Parses where a command copies from or to: a path, `bucket/key`, `s3://bucket/key`,
// `profile:bucket/key`, or - for standard input or output.
import { isAbsolute } from "node:path";
import { parseScheme } from "../../model/names/location.ts";
import { usageError } from "../framework/command-error.ts";
import { prefixAddress } from "./object-address.ts";

export type Locator =
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "stream" }
  | {
      readonly kind: "object";
      readonly profile: string | undefined;
      readonly bucket: string;
      readonly key: string;
    }
  /** A word that may be a path or an address: which of them exists decides. */
  | { readonly kind: "word"; readonly text: string };

export const locatorForms = [
  "A file or folder: ./cat.jpg or /srv/cat.jpg",
  "An object: photos/cat.jpg or s3://photos/cat.jpg",
  "An object of a profile: work:photos/cat.jpg",
];

export function parseLocator(text: string): Locator {
  if (text === "") throw usageError("A source or target is empty.", locatorForms);
  if (text === "-") return { kind: "stream" };
  if (isPath(text)) return { kind: "path", path: text };
  if (/^s3:\/\//i.test(text)) return object(undefined, text);
  const [, profile, rest = ""] = /^([A-Za-z0-9][A-Za-z0-9_-]*):(?!\/\/)(.*)$/s.exec(text) ?? [];
  if (profile !== undefined) return object(profile, rest);
  const scheme = parseScheme(text);
  if (scheme === undefined) return { kind: "word", text };
  // The rest of the URL is not shown: it may contain a password.
  throw usageError(`A URL that starts with "${scheme}" cannot be used here.`, [
    ...locatorForms,
    "For another S3 service, add a profile: store profile add NAME --endpoint URL",
  ]);
}

/** A path starts with a dot or a slash, which a bucket name never does. */
function isPath(text: string): boolean {
  return text.startsWith(".") || isAbsolute(text);
}

function object(profile: string | undefined, text: string): Locator {
  const { bucket, prefix } = prefixAddress(text);
  if (bucket === "" && prefix !== "") throw usageError(`"${text}" has no bucket.`, locatorForms);
  return { kind: "object", profile, bucket, key: prefix };
}
