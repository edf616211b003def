// Spec 2.8 and 2.12: delimiter and delimited prefixes.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { StoreBucket, StoreListOptions } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";
import { sharedBucket } from "./support.ts";

interface Grouped {
  readonly keys: string[];
  readonly prefixes: string[];
}

async function list(bucket: StoreBucket, options: StoreListOptions): Promise<Grouped> {
  const page = await bucket.list(options);
  assert.equal(page.truncated, false);
  return { keys: page.objects.map((object) => object.key), prefixes: page.delimitedPrefixes };
}

async function putAll(bucket: StoreBucket, keys: readonly string[]): Promise<void> {
  await Promise.all(keys.map((key) => bucket.put(key, "")));
}

export function listGroupingSentences(implementation: Implementation): void {
  describe("delimited prefixes behave as the spec states", () => {
    const open = sharedBucket(implementation);

    test("spec 2.8: with no prefix and delimiter '/', a key of the form a/b/c yields the first segment as a delimited prefix", async () => {
      const { bucket } = await open();
      await putAll(bucket, ["a/b/c"]);
      assert.deepEqual(await list(bucket, { delimiter: "/" }), { keys: [], prefixes: ["a"] });
    });

    test("spec 2.8: with prefix 'a/' and delimiter '/', a key of the form a/b/c yields 'a/b'", async () => {
      const { bucket } = await open();
      await putAll(bucket, ["a/b/c", "other/b/c"]);
      assert.deepEqual(await list(bucket, { prefix: "a/", delimiter: "/" }), { keys: [], prefixes: ["a/b"] });
    });

    test("spec 2.8: delimitedPrefixes are the prefixes between the given prefix and the next occurrence of the delimiter", async () => {
      const { bucket } = await open();
      const keys = ["a", "a/", "a/1", "a/b/1", "a/b/2", "a/c/d/1", "a/c/e/1", "ab/1", "b", "c/1"];
      await putAll(bucket, keys);
      assert.deepEqual(await list(bucket, { delimiter: "/" }), {
        keys: ["a", "b"],
        prefixes: ["a", "ab", "c"],
      });
      assert.deepEqual(await list(bucket, { prefix: "a", delimiter: "/" }), {
        keys: ["a"],
        prefixes: ["a", "ab"],
      });
      assert.deepEqual(await list(bucket, { prefix: "a/", delimiter: "/" }), {
        keys: ["a/", "a/1"],
        prefixes: ["a/b", "a/c"],
      });
      assert.deepEqual(await list(bucket, { prefix: "a/c/", delimiter: "/" }), {
        keys: [],
        prefixes: ["a/c/d", "a/c/e"],
      });
      assert.deepEqual(await list(bucket, { prefix: "a/c", delimiter: "/" }), {
        keys: [],
        prefixes: ["a/c"],
      });
      assert.deepEqual(await list(bucket, { prefix: "a/b/", delimiter: "/" }), {
        keys: ["a/b/1", "a/b/2"],
        prefixes: [],
      });
      assert.deepEqual(await list(bucket, { prefix: "none/", delimiter: "/" }), { keys: [], prefixes: [] });
    });

    test("spec 2.8: delimitedPrefixes is empty if no delimiter is given", async () => {
      const { bucket } = await open();
      await putAll(bucket, ["a/b", "c"]);
      for (const options of [{}, { prefix: "a/" }, { delimiter: "" }, { delimiter: undefined }]) {
        assert.deepEqual((await bucket.list(options)).delimitedPrefixes, []);
      }
      assert.deepEqual((await list(bucket, { delimiter: "" })).keys, ["a/b", "c"]);
    });

    test("spec 2.12: delimiter may be any character", async () => {
      const { bucket } = await open();
      for (const delimiter of ["/", "-", "%", "_", ".", " ", "ä", "\u{1f600}", "\0"]) {
        await putAll(bucket, [`one${delimiter}x`, `one${delimiter}y`, `two${delimiter}x`, "one", "plain"]);
        assert.deepEqual(await list(bucket, { delimiter }), {
          keys: ["one", "plain"],
          prefixes: ["one", "two"],
        });
        await bucket.delete([`one${delimiter}x`, `one${delimiter}y`, `two${delimiter}x`]);
      }
    });

    test("spec 2.12: delimiter may be longer than one character", async () => {
      const { bucket } = await open();
      await putAll(bucket, ["a--b", "a-b", "c--d--e"]);
      assert.deepEqual(await list(bucket, { delimiter: "--" }), { keys: ["a-b"], prefixes: ["a", "c"] });
    });

    test("spec 2.8: a delimiter at the start of a key or directly after another delimiter makes an empty segment", async () => {
      const { bucket } = await open();
      await putAll(bucket, ["/a", "b//c", "b/d"]);
      assert.deepEqual(await list(bucket, { delimiter: "/" }), { keys: [], prefixes: ["", "b"] });
      assert.deepEqual(await list(bucket, { prefix: "b/", delimiter: "/" }), {
        keys: ["b/d"],
        prefixes: ["b/"],
      });
    });

    test("spec 2.12: prefixes and objects count toward limit together, and no prefix is repeated on a later page", async () => {
      const { bucket } = await open();
      await putAll(bucket, ["a", "b/1", "b/2", "b/3", "c", "d/1", "d/2", "e/1", "f"]);
      for (const limit of [1, 2, 3, 4, 5, 6, 7]) {
        const [keys, prefixes]: [string[], string[]] = [[], []];
        let cursor: string | undefined;
        do {
          const page = await bucket.list({ delimiter: "/", limit, cursor });
          assert.ok(page.objects.length + page.delimitedPrefixes.length <= limit);
          keys.push(...page.objects.map((object) => object.key));
          prefixes.push(...page.delimitedPrefixes);
          cursor = page.cursor;
        } while (cursor !== undefined);
        assert.deepEqual(keys, ["a", "c", "f"]);
        assert.deepEqual(prefixes, ["b", "d", "e"]);
      }
    });

    test("spec 2.8: with the flag store_delimited_prefixes_keep_delimiter the prefixes end with the delimiter", async () => {
      const { store, bucket } = await open();
      await putAll(bucket, ["a/b/c", "d"]);
      const keeping = store.bucket("bucket", {
        compatibilityFlags: ["store_delimited_prefixes_keep_delimiter"],
      });
      assert.deepEqual(await list(keeping, { delimiter: "/" }), { keys: ["d"], prefixes: ["a/"] });
      assert.deepEqual(await list(keeping, { prefix: "a/", delimiter: "/" }), {
        keys: [],
        prefixes: ["a/b/"],
      });
    });
  });
}
