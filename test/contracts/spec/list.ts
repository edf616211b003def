// Spec 2.8, list options of 2.12, list of 4 and its rules 1 and 2: pages of keys in order.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { StoreBucket, StoreListOptions, StoreObjects } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";
import { fieldsOf, keysIn, mustHead, refused, sharedBucket, wrongArgument } from "./support.ts";

function keysOf(page: StoreObjects): string[] {
  return page.objects.map((object) => object.key);
}

/** Returns all pages: lists again with the cursor while truncated is true. */
async function pages(bucket: StoreBucket, options: StoreListOptions): Promise<StoreObjects[]> {
  const all = [await bucket.list(options)];
  for (let last = all[0]; last?.truncated; last = all.at(-1)) {
    assert.ok(all.length < 2000, "the listing ends");
    all.push(await bucket.list({ ...options, cursor: last.cursor }));
  }
  return all;
}

async function putAll(bucket: StoreBucket, keys: readonly string[]): Promise<void> {
  await Promise.all(keys.map((key) => bucket.put(key, "")));
}

function inByteOrder(keys: readonly string[]): string[] {
  return [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

export function listSentences(implementation: Implementation): void {
  describe("list behaves as the spec states", () => {
    const open = sharedBucket(implementation);

    test("spec 2.8: objects of a list result are the matching objects, each a StoreObject", async () => {
      const { bucket } = await open();
      await putAll(bucket, ["a", "b/1", "b/2"]);
      const page = await bucket.list({ prefix: "b/", include: ["httpMetadata", "customMetadata"] });
      assert.ok(Array.isArray(page.objects));
      assert.deepEqual(keysOf(page), ["b/1", "b/2"]);
      for (const object of page.objects) {
        assert.ok(!("body" in object));
        assert.deepEqual(fieldsOf(object), fieldsOf(await mustHead(bucket, object.key)));
      }
    });

    test("spec 2.8: a list of a bucket without objects is empty and not truncated", async () => {
      const { bucket } = await open();
      const page = await bucket.list();
      assert.deepEqual(page.objects, []);
      assert.deepEqual(page.delimitedPrefixes, []);
      assert.equal(page.truncated, false);
      assert.ok(!("cursor" in page));
    });

    test("spec 4: list can be called without options", async () => {
      const { bucket } = await open();
      await putAll(bucket, ["b", "a"]);
      for (const options of [undefined, null, {}]) {
        assert.deepEqual(keysOf(await bucket.list(options)), ["a", "b"]);
      }
    });

    test("spec 4: list returns objects ordered lexicographically", async () => {
      const { bucket } = await open();
      const ascii = [
        "",
        "!",
        "-",
        ".",
        "/",
        "0",
        "10",
        "9",
        "A",
        "B",
        "_",
        "a",
        "a-",
        "a/",
        "a/b",
        "aa",
        "b",
        "~",
      ];
      const beyond = [
        "\u007f",
        "\u00e4",
        "e\u0301",
        "\u07ff",
        "\u0800",
        "\ud7ff",
        "\ue000",
        "\uffff",
        "\u{10000}",
      ];
      const keys = [...ascii, ...beyond, "\u{10ffff}", "a\0", "a\u{1f600}", "a\ue000"];
      await putAll(bucket, keys);
      assert.deepEqual(await keysIn(bucket), inByteOrder(keys));
      const paged = (await pages(bucket, { limit: 3 })).flatMap(keysOf);
      assert.deepEqual(paged, inByteOrder(keys));
    });

    test("spec 2.8: truncated is true if more results remain for this list request, and false if none do", async () => {
      const { bucket } = await open();
      await putAll(bucket, ["a", "b/1", "b/2", "c"]);
      assert.equal((await bucket.list({ limit: 3 })).truncated, true);
      assert.equal((await bucket.list({ limit: 4 })).truncated, false);
      assert.equal((await bucket.list({ limit: 5 })).truncated, false);
      assert.equal((await bucket.list({ limit: 1, prefix: "b/" })).truncated, true);
      assert.equal((await bucket.list({ limit: 2, prefix: "b/" })).truncated, false, "c does not match");
      assert.equal((await bucket.list({ limit: 2, delimiter: "/" })).truncated, true);
      assert.equal((await bucket.list({ limit: 3, delimiter: "/" })).truncated, false);
    });

    test("spec 2.8: cursor is a token to resume listing, present only when truncated is true", async () => {
      const { bucket } = await open();
      await putAll(bucket, ["a", "b", "c"]);
      const first = await bucket.list({ limit: 2 });
      assert.equal(first.truncated, true);
      assert.equal(typeof first.cursor, "string");
      const second = await bucket.list({ limit: 2, cursor: first.cursor });
      assert.deepEqual(keysOf(second), ["c"]);
      assert.equal(second.truncated, false);
      assert.ok(!("cursor" in second));
    });

    test("spec 2.12: limit is the maximum number of results of a list", async () => {
      const { bucket } = await open();
      const keys = ["a", "b", "c", "d", "e"];
      await putAll(bucket, keys);
      for (const limit of [1, 2, 3, 4, 5, 6]) {
        const page = await bucket.list({ limit });
        assert.deepEqual(keysOf(page), keys.slice(0, limit));
      }
    });

    test("spec 2.12: limit may be 0, and truncated is then true if any key matches", async () => {
      const { bucket } = await open();
      assert.equal((await bucket.list({ limit: 0 })).truncated, false);
      await putAll(bucket, ["a", "b"]);
      const page = await bucket.list({ limit: 0 });
      assert.deepEqual(page.objects, []);
      assert.equal(page.truncated, true);
      assert.deepEqual(keysOf(await bucket.list({ cursor: page.cursor })), ["a", "b"]);
      assert.equal((await bucket.list({ limit: 0, prefix: "c" })).truncated, false);
    });

    test("spec 2.12: a limit that is negative or not a number is refused", async () => {
      const { bucket } = await open();
      for (const limit of [-1, Number.NaN]) await refused(bucket.list({ limit }), "list", 10022);
    });

    test("spec 2.12: list with a prefix returns only keys that start with the prefix", async () => {
      const { bucket } = await open();
      const keys = [
        "a",
        "a%b",
        "a/b",
        "aXb",
        "a_b",
        "ab",
        "b",
        "\u{10ffff}",
        "\u{10ffff}\u{10ffff}",
        "ä",
        "äb",
      ];
      await putAll(bucket, keys);
      for (const prefix of ["", "a", "a%", "a_", "a/", "A", "ä", "b", "c", "\u{10ffff}", "a/b", "a/b/"]) {
        const expected = inByteOrder(keys.filter((key) => key.startsWith(prefix)));
        assert.deepEqual(keysOf(await bucket.list({ prefix })), expected);
        assert.deepEqual((await pages(bucket, { prefix, limit: 2 })).flatMap(keysOf), expected);
      }
    });

    test("spec 2.12: cursor is an opaque token from a previous list, and any other text is refused", async () => {
      const { bucket } = await open();
      await putAll(bucket, ["a", "b", "c"]);
      const { cursor } = await bucket.list({ limit: 1 });
      assert.deepEqual(keysOf(await bucket.list({ cursor })), ["b", "c"]);
      assert.deepEqual(
        keysOf(await bucket.list({ cursor: "" })),
        ["a", "b", "c"],
        "an empty cursor counts as no cursor",
      );
      for (const foreign of ["a", `${cursor}x`, cursor?.slice(1) ?? ""]) {
        await refused(bucket.list({ cursor: foreign }), "list", 10029);
      }
      await wrongArgument(bucket.list({ cursor: 5 as unknown as string }), TypeError);
    });

    test("spec 4, list rule 1: fewer objects than limit may be returned, particularly with include, and truncated is then true", async () => {
      const { bucket } = await open();
      const keys = Array.from({ length: 60 }, (_, i) => `key ${String(i).padStart(2, "0")}`);
      const customMetadata = { text: "m".repeat(8000) };
      await Promise.all(keys.map((key) => bucket.put(key, "", { customMetadata })));
      const listed = await pages(bucket, { limit: 60, include: ["customMetadata"] });
      const [first] = listed;
      assert.ok(first !== undefined && first.objects.length < 60, "the total data of one call is capped");
      assert.ok(first.objects.length > 0);
      assert.equal(first.truncated, true);
      assert.deepEqual(listed.flatMap(keysOf), keys);
      for (const { objects } of listed) {
        for (const object of objects) assert.deepEqual({ ...object.customMetadata }, customMetadata);
      }
    });

    test("spec 4 list rule 2: repeating list with the cursor while truncated is true gives every key once, in order", async () => {
      const { bucket } = await open();
      const keys = Array.from({ length: 57 }, (_, i) => `${i % 3}/${i}`);
      await putAll(bucket, keys);
      for (const limit of [1, 2, 19, 56, 57, 58]) {
        const listed = await pages(bucket, { limit });
        assert.deepEqual(listed.flatMap(keysOf), inByteOrder(keys));
        assert.equal(listed.length, Math.ceil(keys.length / limit));
      }
    });

    test("spec 4 list rule 2: a cursor continues after the previous page, even if that page's objects were deleted", async () => {
      const { bucket } = await open();
      await putAll(bucket, ["a", "b", "c", "d"]);
      const first = await bucket.list({ limit: 2 });
      await bucket.delete(["a", "b", "c"]);
      await putAll(bucket, ["aa", "bb"]);
      assert.deepEqual(keysOf(await bucket.list({ cursor: first.cursor })), ["bb", "d"]);
    });

    test("spec 4: list returns up to 1000 entries", async (t) => {
      const { bucket } = await open();
      const keys = Array.from({ length: 1203 }, (_, i) => `folder ${Math.floor(i / 12)}/key ${i}`);
      await putAll(bucket, keys);
      const sorted = inByteOrder(keys);

      await t.test("spec 2.12: the limit of list is 1000 by default", async () => {
        const page = await bucket.list();
        assert.deepEqual(keysOf(page), sorted.slice(0, 1000));
        assert.equal(page.truncated, true);
        const rest = await bucket.list({ cursor: page.cursor });
        assert.deepEqual(keysOf(rest), sorted.slice(1000));
        assert.equal(rest.truncated, false);
      });

      await t.test("spec 2.12: a limit of list above 1000 is reduced to 1000", async () => {
        for (const limit of [1000, 1001, 1203, 1_000_000, Number.MAX_SAFE_INTEGER]) {
          const page = await bucket.list({ limit });
          assert.deepEqual(keysOf(page), sorted.slice(0, 1000));
          assert.equal(page.truncated, true);
        }
      });

      await t.test("spec 8: list returns 1000 entries per page by default and at most", async () => {
        for (const options of [{}, { limit: 1000 }, { limit: 2000 }]) {
          const listed = await pages(bucket, options);
          assert.deepEqual(
            listed.map((page) => page.objects.length),
            [1000, 203],
          );
        }
      });

      await t.test("spec 4: the limit of list sets the number of returned entries", async () => {
        for (const limit of [1, 500, 999]) {
          assert.deepEqual(keysOf(await bucket.list({ limit })), sorted.slice(0, limit));
        }
      });

      await t.test("spec 4 list rule 2: pages of any size add up to the whole listing", async () => {
        for (const limit of [97, 401]) {
          assert.deepEqual((await pages(bucket, { limit })).flatMap(keysOf), sorted);
        }
      });

      await t.test(
        "spec 2.8: list with a delimiter groups a thousand keys in a hundred folders into a hundred prefixes",
        async () => {
          const page = await bucket.list({ delimiter: "/" });
          assert.deepEqual(page.objects, []);
          assert.equal(page.truncated, false);
          const folders = new Set(sorted.map((key) => key.slice(0, key.indexOf("/"))));
          assert.deepEqual(new Set(page.delimitedPrefixes), folders);
          assert.equal(page.delimitedPrefixes.length, folders.size);
        },
      );
    });
  });
}
