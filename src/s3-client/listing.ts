// The end of a page of ListObjectsV2. A service that sends the same page again, or no start of the
// next page, must neither keep a listing running for ever nor end it as if it were complete.
import { elementText } from "./errors.ts";
import { Broken } from "./http-client.ts";

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
