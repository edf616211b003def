// Contract: a list returns every key once, in the order of its UTF-8 bytes, page by page.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { StoreKvListOptions, StoreKvNamespace } from "../../../src/index.ts";
import { type Scenes, start, wrong } from "./scene.ts";

async function pages(kv: StoreKvNamespace, options: StoreKvListOptions): Promise<string[][]> {
  const found: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = await kv.list({ ...options, cursor });
    found.push(page.keys.map(({ name }) => name));
    cursor = page.list_complete ? undefined : page.cursor;
    assert.equal("cursor" in page, !page.list_complete);
  } while (cursor !== undefined);
  return found;
}

export function listContract(scenes: Scenes): void {
  test("keys are listed in the order of their UTF-8 bytes", async () => {
    const { kv } = await scenes.shared();
    const ordered = ["!", ", ", "A", "a", "a/b", "aa", "é", "\uffff", "\u{1f600}"];
    for (const key of [...ordered].reverse()) await kv.put(key, "value");
    assert.deepEqual(await kv.list(), {
      keys: ordered.map((name) => ({ name })),
      list_complete: true,
      cacheStatus: null,
    });
  });

  test("list of an empty namespace is empty", async () => {
    const { kv } = await scenes.shared();
    assert.deepEqual(await kv.list(), { keys: [], list_complete: true, cacheStatus: null });
    assert.deepEqual(await kv.list({ prefix: "a", limit: 1 }), {
      keys: [],
      list_complete: true,
      cacheStatus: null,
    });
  });

  test("a listed key includes its metadata and expiration, if set", async () => {
    const { kv } = await scenes.shared();
    await kv.put("a", "value", { metadata: { n: 1 } });
    await kv.put("b", "value", { expirationTtl: 60 });
    await kv.put("c", "value", { metadata: 0, expiration: start + 100 });
    assert.deepEqual((await kv.list()).keys, [
      { name: "a", metadata: { n: 1 } },
      { name: "b", expiration: start + 60 },
      { name: "c", expiration: start + 100, metadata: 0 },
    ]);
  });

  test("list compares the prefix literally and returns at most limit keys per page", async () => {
    const { kv } = await scenes.shared();
    const keys = ["key\\_%1", "key\\_%2", "key\\_%3", "key\\a", "KEY1"];
    for (const key of keys) await kv.put(key, "value");
    const prefix = "key\\_%";
    assert.deepEqual(await pages(kv, { prefix }), [keys.slice(0, 3)]);
    assert.deepEqual(await pages(kv, { prefix, limit: 2 }), [keys.slice(0, 2), keys.slice(2, 3)]);
    assert.deepEqual(await pages(kv, { prefix, limit: 3 }), [keys.slice(0, 3)]);
    assert.deepEqual(await pages(kv, { limit: 1 }), [["KEY1"], ...keys.slice(0, 4).map((key) => [key])]);
    assert.deepEqual(await pages(kv, { prefix: "x".repeat(512) }), [[]]);
  });

  test("the limit may change between pages, and keys put meanwhile after the cursor are listed", async () => {
    const { kv } = await scenes.shared();
    for (const key of ["key1", "key3", "key5"]) await kv.put(key, "value");
    const first = await kv.list({ limit: 2 });
    assert.ok(!first.list_complete);
    for (const key of ["key2", "key4"]) await kv.put(key, "value");
    await kv.delete("key3");
    const rest = await kv.list({ limit: 10, cursor: first.cursor });
    assert.deepEqual(rest.keys, [{ name: "key4" }, { name: "key5" }]);
  });

  test("a page of a list has 1,000 keys, however large their metadata is", async () => {
    const { kv } = await scenes.shared();
    const metadata = "x".repeat(1000);
    const names = Array.from({ length: 1001 }, (_, i) => `key-${String(i).padStart(4, "0")}`);
    for (let i = 0; i < names.length; i += 100) {
      await Promise.all(names.slice(i, i + 100).map((name) => kv.put(name, "value", { metadata })));
    }
    const found = await pages(kv, {});
    assert.deepEqual(found, [names.slice(0, 1000), names.slice(1000)]);
  });

  test("list refuses an invalid limit, prefix or cursor", async () => {
    const { kv } = await scenes.shared();
    await kv.put("key", "value");
    await assert.rejects(kv.list({ limit: 1001 }), {
      name: "Error",
      message:
        "KV GET failed: 400 Invalid key_count_limit of 1001. Please specify an integer less than 1000.",
    });
    await assert.rejects(kv.list({ prefix: "x".repeat(513) }), {
      message: "KV GET failed: 414 UTF-8 encoded length of 513 exceeds key length limit of 512.",
    });
    await assert.rejects(
      kv.list({ cursor: "nonsense" }),
      /^Error: KV GET failed: 400 The cursor is not valid/,
    );
    await assert.rejects(kv.list(wrong("prefix")), TypeError);
    for (const options of [{ limit: 0 }, { limit: -1 }, { cursor: "" }, { cursor: null, prefix: null }]) {
      assert.equal((await kv.list(wrong(options))).keys.length, 1);
    }
  });
}
