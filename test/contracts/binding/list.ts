// Tests "list" of binding.md: order, limits, pages, cursors and included metadata.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { StoreBucket, StoreListOptions, StoreObjects } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";
import { furnish, isArgumentError, openBucket, rejectsWith } from "./scene.ts";

export const keysOf = (page: StoreObjects): string[] => page.objects.map(({ key }) => key);

/** Returns all pages of a listing. */
export async function pagesOf(bucket: StoreBucket, options: StoreListOptions): Promise<StoreObjects[]> {
  const pages: StoreObjects[] = [];
  let cursor: string | undefined;
  do {
    const page = await bucket.list({ ...options, cursor });
    assert.equal(page.truncated, page.cursor !== undefined, "a cursor is present only when truncated");
    assert.equal("cursor" in page, page.truncated, "a cursor is present only when truncated");
    pages.push(page);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return pages;
}

export async function putAll(bucket: StoreBucket, keys: readonly string[]): Promise<void> {
  await Promise.all(keys.map((key) => bucket.put(key, key)));
}

export function listContract(implementation: Implementation): void {
  describe("list returns the keys of a bucket in pages", () => {
    test("list of an empty bucket is empty", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      assert.deepEqual(
        { ...(await bucket.list()) },
        { objects: [], delimitedPrefixes: [], truncated: false },
      );
    });

    test("list returns keys in UTF-8 byte order", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const ordered = ["", "\0", "A", "B", "a", "a!", "a/b", "aa", "b", "é", "ｚ", "\uffff", "\u{10000}"];
      await putAll(bucket, [...ordered].reverse());
      assert.deepEqual(keysOf(await bucket.list()), ordered);
    });

    test("a limit above 1000 is reduced to 1000, which is also the default", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const keys = Array.from({ length: 1003 }, (_, i) => `key-${String(i).padStart(4, "0")}`);
      await putAll(bucket, keys);
      for (const limit of [undefined, 1000, 1001, 5000, 1e9, Number.POSITIVE_INFINITY]) {
        const page = await bucket.list({ limit });
        assert.deepEqual(keysOf(page), keys.slice(0, 1000));
        assert.equal(page.truncated, true);
        const next = await bucket.list({ limit, cursor: page.cursor });
        assert.deepEqual(keysOf(next), keys.slice(1000));
        assert.equal(next.truncated, false);
      }
      const pages = await pagesOf(bucket, { limit: 100 });
      assert.equal(pages.length, 11);
      assert.deepEqual(pages.flatMap(keysOf), keys);
      const exact = await bucket.list({ limit: 3, startAfter: "key-0999" });
      assert.deepEqual([keysOf(exact), exact.truncated], [keys.slice(1000), false]);
    });

    test("list accepts a limit given as text, and treats an empty limit or cursor as absent", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await putAll(bucket, ["a", "b", "c"]);
      const listed = (options: object) => bucket.list(options).then(keysOf);
      assert.deepEqual(await listed({ cursor: "" }), ["a", "b", "c"]);
      assert.deepEqual(await listed({ cursor: "", startAfter: "a" }), ["b", "c"]);
      assert.deepEqual(await listed({ limit: "" }), ["a", "b", "c"]);
      for (const limit of ["2", " 2 ", "+2", "02"]) assert.deepEqual(await listed({ limit }), ["a", "b"]);
      assert.deepEqual(await listed({ limit: "0" }), []);
      assert.deepEqual(await listed({ limit: "9".repeat(400) }), ["a", "b", "c"]);
    });

    test("a limit of 0 returns an empty page, which is truncated if any key matches", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await putAll(bucket, ["a", "b/c"]);
      for (const options of [
        {},
        { prefix: "a" },
        { prefix: "b/" },
        { delimiter: "/" },
        { startAfter: "a" },
      ]) {
        const page = await bucket.list({ ...options, limit: 0 });
        assert.deepEqual([page.objects, page.delimitedPrefixes, page.truncated], [[], [], true]);
        assert.ok(page.cursor);
        const whole = await bucket.list(options);
        const next = await bucket.list({ ...options, cursor: page.cursor });
        assert.deepEqual(
          [keysOf(next), next.delimitedPrefixes, next.truncated],
          [keysOf(whole), whole.delimitedPrefixes, false],
        );
      }
      for (const options of [{ prefix: "c" }, { startAfter: "b/c" }]) {
        const page = await bucket.list({ ...options, limit: 0 });
        assert.deepEqual([page.objects, page.truncated, page.cursor], [[], false, undefined]);
      }
    });

    test("a prefix is compared literally, and startAfter is exclusive", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await putAll(bucket, ["a", "a%b", "a_b", "ab", "abc", "b", "B"]);
      assert.deepEqual(keysOf(await bucket.list({ prefix: "a" })), ["a", "a%b", "a_b", "ab", "abc"]);
      assert.deepEqual(keysOf(await bucket.list({ prefix: "a%" })), ["a%b"]);
      assert.deepEqual(keysOf(await bucket.list({ prefix: "a_" })), ["a_b"]);
      assert.deepEqual(keysOf(await bucket.list({ prefix: "b" })), ["b"]);
      assert.deepEqual(keysOf(await bucket.list({ prefix: "" })).length, 7);
      assert.deepEqual(keysOf(await bucket.list({ prefix: "abcd" })), []);
      assert.deepEqual(keysOf(await bucket.list({ startAfter: "ab" })), ["abc", "b"]);
      assert.deepEqual(keysOf(await bucket.list({ startAfter: "aa" })), ["ab", "abc", "b"]);
      assert.deepEqual(keysOf(await bucket.list({ startAfter: "b" })), []);
      assert.deepEqual(keysOf(await bucket.list({ startAfter: "A", prefix: "ab" })), ["ab", "abc"]);
      assert.deepEqual(keysOf(await bucket.list({ startAfter: "ab", prefix: "ab" })), ["abc"]);
      assert.deepEqual(keysOf(await bucket.list({ startAfter: "b", prefix: "ab" })), []);
    });

    test("if both startAfter and cursor are given, the list starts at the later position", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await putAll(bucket, ["a", "b", "c", "d", "e"]);
      const { cursor } = await bucket.list({ limit: 3 });
      assert.deepEqual(keysOf(await bucket.list({ cursor, startAfter: "a" })), ["d", "e"]);
      assert.deepEqual(keysOf(await bucket.list({ cursor, startAfter: "c" })), ["d", "e"]);
      assert.deepEqual(keysOf(await bucket.list({ cursor, startAfter: "d" })), ["e"]);
      const grouped = await bucket.list({ limit: 1, startAfter: "b" });
      const rest = await bucket.list({ limit: 1, startAfter: "b", cursor: grouped.cursor });
      assert.deepEqual([keysOf(grouped), keysOf(rest)], [["c"], ["d"]]);
    });

    test("a list with a cursor continues after the returned keys, even if keys were put or deleted meanwhile", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await putAll(bucket, ["a", "b", "c", "d"]);
      const { cursor } = await bucket.list({ limit: 2 });
      await bucket.delete(["b", "c"]);
      await putAll(bucket, ["aa", "bb"]);
      assert.deepEqual(keysOf(await bucket.list({ cursor })), ["bb", "d"]);
    });

    test("a cursor that was not returned by list is refused with 10029", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await putAll(bucket, ["a", "b"]);
      const { cursor = "" } = await bucket.list({ limit: 1 });
      const changed = `${cursor.slice(0, -1)}${cursor.endsWith("A") ? "B" : "A"}`;
      for (const foreign of ["a", "b", "foreign", changed, cursor.toUpperCase(), btoa("a"), `${cursor} `]) {
        await rejectsWith({ code: 10029, action: "list" }, () => bucket.list({ cursor: foreign }));
      }
    });
  });

  describe("list returns only the metadata named in include", () => {
    const metadata = {
      httpMetadata: { contentType: "text/plain", cacheExpiry: new Date(1_900_000_000_000) },
      customMetadata: { a: "b" },
    };

    test("without include, metadata is undefined and writeHttpMetadata throws an error that names the option", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("key", "value", metadata);
      for (const options of [undefined, {}, { include: [] }, { include: ["customMetadata" as const] }]) {
        const [object] = (await bucket.list(options)).objects;
        assert.ok(object);
        assert.equal(object.httpMetadata, undefined);
        if (options?.include?.length !== 1) assert.equal(object.customMetadata, undefined);
        assert.throws(
          () => object.writeHttpMetadata(new Headers()),
          (error) => {
            isArgumentError({ message: /include.*httpMetadata|httpMetadata.*include/ }, error);
            return true;
          },
        );
        assert.equal(object.size, 5);
        assert.equal(object.checksums.toJSON().md5, object.etag);
      }
    });

    test("listed objects have the included metadata", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("key", "value", metadata);
      await bucket.put("none", "value");
      const [http] = (await bucket.list({ include: ["httpMetadata"] })).objects;
      assert.deepEqual({ ...http?.httpMetadata }, metadata.httpMetadata);
      assert.equal(http?.customMetadata, undefined);
      const headers = new Headers();
      http?.writeHttpMetadata(headers);
      assert.equal(headers.get("content-type"), "text/plain");
      const [custom] = (await bucket.list({ include: ["customMetadata"] })).objects;
      assert.equal(custom?.httpMetadata, undefined);
      assert.deepEqual({ ...custom?.customMetadata }, metadata.customMetadata);
      const [both, none] = (await bucket.list({ include: ["httpMetadata", "customMetadata"] })).objects;
      assert.deepEqual({ ...both?.httpMetadata }, metadata.httpMetadata);
      assert.deepEqual({ ...both?.customMetadata }, metadata.customMetadata);
      assert.deepEqual({ ...none?.httpMetadata }, {});
      assert.deepEqual({ ...none?.customMetadata }, {});
    });

    test("list honours include from compatibility date 2022-08-04 on, or with store_list_honor_include", async (t) => {
      const { store, name, bucket } = await openBucket(t, implementation);
      await bucket.put("key", "value", metadata);
      const flag = "store_list_honor_include";
      for (const [options, honoured] of [
        [{}, true],
        [{ compatibilityDate: "2022-08-04" }, true],
        [{ compatibilityDate: "2024-01-01" }, true],
        [{ compatibilityDate: "2022-08-03" }, false],
        [{ compatibilityDate: "2021-12-31" }, false],
        [{ compatibilityDate: "2021-12-31", compatibilityFlags: [flag] }, true],
      ] as const) {
        for (const include of [undefined, [], ["customMetadata" as const]]) {
          const [object] = (await store.bucket(name, options).list({ include })).objects;
          const expected = honoured ? undefined : metadata.httpMetadata;
          assert.deepEqual(object?.httpMetadata && { ...object.httpMetadata }, expected);
          const carried = !honoured || include?.length === 1;
          assert.deepEqual(
            object?.customMetadata && { ...object.customMetadata },
            carried ? metadata.customMetadata : undefined,
          );
        }
      }
    });

    test("a page of a list ends early at about 256 KiB of metadata, and the next page continues after it", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const keys = Array.from({ length: 70 }, (_, i) => `key-${String(i).padStart(2, "0")}`);
      const customMetadata = { name: "m".repeat(8000) };
      await Promise.all(keys.map((key) => bucket.put(key, key, { customMetadata })));
      const pages = await pagesOf(bucket, { include: ["customMetadata"] });
      assert.deepEqual(pages.flatMap(keysOf), keys);
      for (const page of pages.slice(0, -1)) {
        const bytes = page.objects.length * 8004;
        assert.ok(bytes > 224 * 1024 && bytes < 288 * 1024, `${bytes} bytes of metadata on a page`);
      }
      assert.equal(pages.length, 3);
      // Without include no metadata is returned, so its size does not end the page.
      assert.equal((await bucket.list()).objects.length, 70);
      // Here the limit is reached before the maximum size of metadata.
      assert.equal((await bucket.list({ include: ["customMetadata"], limit: 5 })).objects.length, 5);
    });
  });

  test("list does not return incomplete uploads", async (t) => {
    const scene = await furnish(t, implementation);
    assert.ok(!keysOf(await scene.bucket.list()).includes("ongoing"));
    assert.equal(await scene.bucket.head("ongoing"), null);
    await scene.completesOngoing();
    assert.ok(keysOf(await scene.bucket.list()).includes("ongoing"));
  });
}
