// Checks that the pages of a listing advance. A service that repeats keys could keep a listing running
// for ever, and one that lists them in another order could make a sync delete what it missed.
import { compareKeys, type Key } from "../model/key.ts";
import { Broken } from "./http-client.ts";

export interface ListingOrder {
  /**
   * Checks the keys of the next page, and its common prefixes, which are listed apart. Throws `Broken`
   * if they do not follow each other and those of the pages before.
   *
   * @example
   * const order = createListingOrder();
   * order.check(["a", "b"]);
   * order.check(["b"]); // throws
   */
  check(...lists: (readonly Key[])[]): void;
}

/** A service may hide keys that it has read, but not without end. */
const maxEmptyPages = 1000;

export function createListingOrder(startAfter?: Key): ListingOrder {
  let last = startAfter;
  let emptyPages = 0;
  return {
    check(...lists) {
      const start = last;
      for (const list of lists) {
        let before = start;
        for (const key of list) {
          if (before !== undefined && compareKeys(before, key) >= 0)
            throw new Broken("a listing repeats keys or is not in their order");
          before = key;
        }
        if (before !== undefined && (last === undefined || compareKeys(last, before) < 0)) last = before;
      }
      emptyPages = lists.every((list) => list.length === 0) ? emptyPages + 1 : 0;
      if (emptyPages > maxEmptyPages)
        throw new Broken(`a listing has more than ${maxEmptyPages} empty pages`);
    },
  };
}
