// Pages of ListObjectsV2. A service that answers with other keys than were requested must not make its
// caller delete them. One that sends the same page again, or no start of the next page, must neither
// keep a listing running for ever nor end it as if it were complete.
import { elementText, parseNumber } from "./errors.ts";
import { Broken } from "./http-client.ts";

export interface ListingRequest {
  /** What all keys start with. */
  readonly prefix: string;
  /** Maximum number of keys. */
  readonly limit: number;
  /** The value of `next` in the page before. */
  readonly after?: string | undefined;
}

export interface ListingPage {
  readonly entries: readonly { readonly key: string; readonly size: number }[];
  /** Requests the next page. Undefined on the last page. */
  readonly next: string | undefined;
}

/** Throws `Broken` if the document is not a page of the requested listing. */
export function readListing(document: string, { prefix, limit, after }: ListingRequest): ListingPage {
  const entries: { readonly key: string; readonly size: number }[] = [];
  for (const content of elementContents(document, "Contents")) {
    const key = elementText(content, "Key");
    const size = parseNumber(elementText(content, "Size"));
    if (key === undefined || size === undefined) throw new Broken("a listing cannot be read");
    if (!key.startsWith(prefix) || entries.length >= limit) {
      throw new Broken("a listing has keys that were not requested");
    }
    entries.push({ key, size });
  }
  return { entries, next: nextPageToken(document, after) };
}

/** Yields what is inside of each element with this name. Reads any document only once. */
export function* elementContents(document: string, name: string): Generator<string> {
  const [open, close] = [`<${name}>`, `</${name}>`];
  for (let at = document.indexOf(open); at !== -1; ) {
    const end = document.indexOf(close, at);
    if (end === -1) throw new Broken("a listing is cut off");
    yield document.slice(at + open.length, end);
    at = document.indexOf(open, end);
  }
}

/** Returns the token of the next page; undefined after the last page. `after` is that of this page. */
export function nextPageToken(document: string, after: string | undefined): string | undefined {
  const isTruncated = elementText(document, "IsTruncated");
  if (isTruncated === "false") return undefined;
  const next = elementText(document, "NextContinuationToken");
  if (isTruncated !== "true" || next === undefined)
    throw new Broken("a listing has no valid IsTruncated or NextContinuationToken");
  if (next === after) throw new Broken("a page of a listing names itself as the next page");
  return next;
}
