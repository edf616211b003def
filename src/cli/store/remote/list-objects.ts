// Lists the objects of an S3 service. A page with other keys than were requested is refused.
import { limits } from "../../../model/limits.ts";
import { childText, findChildren } from "../../../s3/body/xml-reader.ts";
import { Broken } from "../../../s3-client/http-client.ts";
import { createListingOrder, type ListingOrder } from "../../../s3-client/listing-order.ts";
import { CommandError, usageError } from "../../framework/command-error.ts";
import type { ObjectStore } from "../object-store.ts";
import type { RemoteClient } from "./client.ts";
import { recordFromElement } from "./records.ts";

/** Keys are listed percent-encoded, because XML cannot contain every character of a key. */
export const urlEncoding = ["encoding-type", "url"] as const;

/** Listings whose next page was not requested yet. */
const maxOpenListings = 100;

export function decodeKey(text: string | undefined, isEncoded: boolean): string {
  if (text === undefined) throw new CommandError("The service listed an object without a key.");
  let key = text;
  try {
    if (isEncoded) key = decodeURIComponent(text.replaceAll("+", " "));
  } catch (cause) {
    throw new CommandError("The service listed a key that cannot be decoded.", { cause });
  }
  if (Buffer.byteLength(key) <= limits.keyBytes) return key;
  throw new CommandError(`The service listed a key that is longer than ${limits.keyBytes} bytes.`);
}

/** Throws if a service listed a key that was not requested. */
export function requirePrefix(client: RemoteClient, keys: readonly string[], prefix: string): void {
  if (keys.every((key) => key.startsWith(prefix))) return;
  throw client.mapError(new Broken("a listing has keys that were not requested"));
}

export function createLister(client: RemoteClient): ObjectStore["list"] {
  const openListings = new Map<string, ListingOrder>();

  /** The cursor of a user starts anywhere, so that the pages before are not known. */
  function takeOrder(cursor: string | undefined, startAfter: string | undefined): ListingOrder {
    const order = cursor === undefined ? createListingOrder(startAfter) : openListings.get(cursor);
    if (cursor !== undefined) openListings.delete(cursor);
    return order ?? createListingOrder();
  }

  function keepOrder(cursor: string, order: ListingOrder): void {
    const [oldest] = openListings.keys();
    if (openListings.size >= maxOpenListings) openListings.delete(oldest!);
    openListings.set(cursor, order);
  }

  return async (bucket, options = {}) => {
    if (options.time !== undefined) {
      throw usageError("A listing of an earlier time needs the data directory of the store.", [
        `Over S3, list all versions with their times: store object versions ${bucket}`,
      ]);
    }
    const { prefix = "", delimiter = "", startAfter, cursor, limit = limits.listEntries } = options;
    const query: (readonly [string, string])[] = [
      ["list-type", "2"],
      urlEncoding,
      ["max-keys", String(limit)],
      ["prefix", prefix],
    ];
    if (delimiter !== "") query.push(["delimiter", delimiter]);
    if (startAfter !== undefined) query.push(["start-after", startAfter]);
    if (cursor !== undefined) query.push(["continuation-token", cursor]);
    const page = await client.read({ bucket, query }, "ListBucketResult");
    const isEncoded = childText(page, "EncodingType") === "url";
    const isTruncated = childText(page, "IsTruncated") === "true";
    const next = isTruncated ? childText(page, "NextContinuationToken") : undefined;
    if (isTruncated && (next === undefined || next === cursor)) {
      throw new CommandError(`${client.host} sent a page of a listing without the start of the next page.`);
    }
    const objects = findChildren(page, "Contents").map((node) =>
      recordFromElement(node, decodeKey(childText(node, "Key"), isEncoded)),
    );
    const prefixes = findChildren(page, "CommonPrefixes").map((node) =>
      decodeKey(childText(node, "Prefix"), isEncoded),
    );
    const keys = objects.map(({ key }) => key);
    requirePrefix(client, [...keys, ...prefixes], prefix);
    const order = takeOrder(cursor, startAfter);
    try {
      order.check(keys, prefixes);
    } catch (error) {
      throw client.mapError(error);
    }
    if (next !== undefined) keepOrder(next, order);
    return { objects, prefixes, cursor: next, next: undefined };
  };
}
