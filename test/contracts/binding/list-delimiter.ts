// Tests "list" of binding.md: grouping by a delimiter, and pages that end within a group.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { collectPage, type Position } from "../../../src/model/listing.ts";
import type { Implementation } from "../../support/stores.ts";
import { keysOf, pagesOf, putAll } from "./list.ts";
import { openBucket } from "./scene.ts";

export function delimiterContract(implementation: Implementation): void {
  describe("list with a delimiter groups keys into prefixes", () => {
    test("delimitedPrefixes end before the delimiter", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await putAll(bucket, ["a", "a/b/c", "a/b/d", "a/e", "b/c", "f"]);
      const top = await bucket.list({ delimiter: "/" });
      assert.deepEqual(
        [keysOf(top), top.delimitedPrefixes],
        [
          ["a", "f"],
          ["a", "b"],
        ],
      );
      const inside = await bucket.list({ delimiter: "/", prefix: "a/" });
      assert.deepEqual([keysOf(inside), inside.delimitedPrefixes], [["a/e"], ["a/b"]]);
      const deeper = await bucket.list({ delimiter: "/", prefix: "a/b/" });
      assert.deepEqual([keysOf(deeper), deeper.delimitedPrefixes], [["a/b/c", "a/b/d"], []]);
      const partly = await bucket.list({ delimiter: "/", prefix: "a/b" });
      assert.deepEqual([keysOf(partly), partly.delimitedPrefixes], [[], ["a/b"]]);
      const leading = await bucket.list({ delimiter: "/", prefix: "a" });
      assert.deepEqual([keysOf(leading), leading.delimitedPrefixes], [["a"], ["a"]]);
    });

    test("with the flag store_delimited_prefixes_keep_delimiter, delimitedPrefixes end with the delimiter", async (t) => {
      const { store, name, bucket } = await openBucket(t, implementation);
      await putAll(bucket, ["a/b/c", "a/e", "f", "/g"]);
      const compatibilityFlags = ["store_delimited_prefixes_keep_delimiter"];
      const keeping = store.bucket(name, { compatibilityFlags });
      assert.deepEqual((await keeping.list({ delimiter: "/" })).delimitedPrefixes, ["/", "a/"]);
      assert.deepEqual((await keeping.list({ delimiter: "/", prefix: "a/" })).delimitedPrefixes, ["a/b/"]);
      assert.deepEqual((await bucket.list({ delimiter: "/" })).delimitedPrefixes, ["", "a"]);
    });

    test("a delimiter may be longer than one character", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await putAll(bucket, ["a--b", "a--c", "a-d", "e---f", "g"]);
      const page = await bucket.list({ delimiter: "--" });
      assert.deepEqual(
        [keysOf(page), page.delimitedPrefixes],
        [
          ["a-d", "g"],
          ["a", "e"],
        ],
      );
      const inside = await bucket.list({ delimiter: "--", prefix: "a-" });
      assert.deepEqual([keysOf(inside), inside.delimitedPrefixes], [["a--b", "a--c", "a-d"], []]);
    });

    test("an empty delimiter is treated as no delimiter", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await putAll(bucket, ["a/b", "c"]);
      const page = await bucket.list({ delimiter: "" });
      assert.deepEqual([keysOf(page), page.delimitedPrefixes], [["a/b", "c"], []]);
    });

    test("a delimiter may be any character", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await putAll(bucket, ["x😀y", "x😀z", "a\0b", "a\0c", "m\uffffn", "plain"]);
      assert.deepEqual((await bucket.list({ delimiter: "😀" })).delimitedPrefixes, ["x"]);
      assert.deepEqual((await bucket.list({ delimiter: "\0" })).delimitedPrefixes, ["a"]);
      assert.deepEqual((await bucket.list({ delimiter: "\uffff" })).delimitedPrefixes, ["m"]);
      assert.deepEqual((await bucket.list({ delimiter: "%" })).delimitedPrefixes, []);
    });

    test("a key that equals the given prefix is listed as an object, not as a delimited prefix", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await putAll(bucket, ["a/", "a/b", "a/c/", "a/c/d"]);
      const page = await bucket.list({ prefix: "a/", delimiter: "/" });
      assert.deepEqual([keysOf(page), page.delimitedPrefixes], [["a/", "a/b"], ["a/c"]]);
    });

    test("objects and delimited prefixes together count toward the limit of a list", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await putAll(bucket, ["a", "b/1", "b/2", "c", "d/1", "e"]);
      const page = await bucket.list({ delimiter: "/", limit: 3 });
      assert.deepEqual([keysOf(page), page.delimitedPrefixes, page.truncated], [["a", "c"], ["b"], true]);
      const next = await bucket.list({ delimiter: "/", limit: 3, cursor: page.cursor });
      assert.deepEqual([keysOf(next), next.delimitedPrefixes, next.truncated], [["e"], ["d"], false]);
    });

    test("a delimited prefix is never repeated on a later page, even if keys with it are added between pages", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await putAll(bucket, ["a/1", "a/2", "b/1", "c"]);
      const first = await bucket.list({ delimiter: "/", limit: 1 });
      assert.deepEqual(first.delimitedPrefixes, ["a"]);
      await putAll(bucket, ["a/9", "a/\u{10ffff}"]);
      const rest = await bucket.list({ delimiter: "/", cursor: first.cursor });
      assert.deepEqual([keysOf(rest), rest.delimitedPrefixes], [["c"], ["b"]]);
      // A page that ends with the last group is not truncated.
      await bucket.delete("c");
      const last = await bucket.list({ delimiter: "/", limit: 2 });
      assert.deepEqual([last.delimitedPrefixes, last.truncated], [["a", "b"], false]);
    });

    test("pages of any size add up to the whole listing, for every prefix and delimiter", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const keys = [
        "",
        "/",
        "//",
        "/a",
        "a",
        "a/",
        "a//",
        "a//b",
        "a/b",
        "a/b/c",
        "a/b/d",
        "a/c",
        "aa/b",
        "ab",
      ];
      keys.push(
        "b/a/c",
        "b/\u{10000}/x",
        "b/\uffff/x",
        "b/\uffff/y",
        "c-d/e",
        "c-d-e",
        "é/1",
        "é/2",
        "\u{10ffff}/z",
      );
      await putAll(bucket, keys);
      const ordered = [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      for (const delimiter of ["", "/", "-", "b/", "//"]) {
        for (const prefix of ["", "a", "a/", "a/b", "/", "b/", "é", "zz"]) {
          const expected = expectedListing(ordered, prefix, delimiter);
          for (const limit of [1, 2, 3, 7, 1000]) {
            const pages = await pagesOf(bucket, { prefix, delimiter, limit });
            const asked = JSON.stringify({ delimiter, prefix, limit });
            assert.deepEqual(pages.flatMap(keysOf), expected.objects, asked);
            assert.deepEqual(
              pages.flatMap((page) => page.delimitedPrefixes),
              expected.prefixes,
              asked,
            );
            const sizes = pages.map((page) => page.objects.length + page.delimitedPrefixes.length);
            for (const size of sizes.slice(0, -1)) assert.equal(size, limit, asked);
            assert.equal(pages.length, Math.max(1, Math.ceil(expected.count / limit)), asked);
          }
        }
      }
    });
  });
}

/** Computes the expected listing from all keys, without an index. */
function expectedListing(ordered: readonly string[], prefix: string, delimiter: string) {
  const objects: string[] = [];
  const prefixes = new Set<string>();
  for (const key of ordered) {
    if (!key.startsWith(prefix)) continue;
    const at = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
    if (at === -1) objects.push(key);
    else prefixes.add(key.slice(0, at));
  }
  return { objects, prefixes: [...prefixes], count: objects.length + prefixes.size };
}

/** Tests paging on an index that counts the rows it reads. */
export function seekingContract(): void {
  test("listing with a delimiter reads the same number of rows for a million grouped keys as for ten", () => {
    assert.deepEqual(rowsTaken(1_000_000), rowsTaken(10));
  });
}

/**
 * Returns the rows that each of four listings reads if the folders "a", "b" and "c" have this many
 * keys.
 */
function rowsTaken(keysPerFolder: number): number[] {
  const folders = ["a", "b", "c"];
  let taken = 0;
  function* seek(prefix: string, after: Position) {
    for (const folder of folders) {
      if (after.kind === "prefix" && `${folder}/` <= after.value) continue;
      for (let i = 0; i < keysPerFolder; i++) {
        const key = `${folder}/${String(i).padStart(7, "0")}`;
        if (!key.startsWith(prefix)) break;
        if (after.kind === "key" && key <= after.value) continue;
        taken++;
        yield { key, httpMetadata: {}, customMetadata: new Map<string, string>() };
      }
    }
  }
  const common = { metadataBytes: Number.POSITIVE_INFINITY, limit: 5 };
  return [
    () => collectPage(seek, { ...common, prefix: "", delimiter: "/" }),
    () => collectPage(seek, { ...common, prefix: "", delimiter: "/", limit: 2 }),
    () => collectPage(seek, { ...common, prefix: "b/", delimiter: "/" }),
    () => collectPage(seek, { ...common, prefix: "b", delimiter: "" }),
  ].map((list) => {
    taken = 0;
    list();
    return taken;
  });
}
