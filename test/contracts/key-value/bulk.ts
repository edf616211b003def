// Contract: a get of several keys returns a Map, and its limits apply.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Scenes, wrong } from "./scene.ts";

export function bulkContract(scenes: Scenes): void {
  test("get of several keys returns a Map in the requested order, with null for missing keys", async () => {
    const { kv } = await scenes.shared();
    const keys = Array.from({ length: 100 }, (_, i) => `key-${99 - i}`);
    for (const [i, key] of keys.entries()) if (i % 3 !== 0) await kv.put(key, `value ${i}`);
    const expected = keys.map((key, i) => [key, i % 3 === 0 ? null : `value ${i}`] as const);
    assert.deepEqual([...(await kv.get(keys))], expected);
    assert.deepEqual([...(await kv.get(keys, "text"))], expected);
  });

  test("get of several keys can return values parsed as JSON, and getWithMetadata their metadata", async () => {
    const { kv } = await scenes.shared();
    await kv.put("zero", "0", { metadata: "example" });
    await kv.put("empty", '""');
    assert.deepEqual(
      [...(await kv.get(["zero", "empty"], { type: "json" }))],
      [
        ["zero", 0],
        ["empty", ""],
      ],
    );
    assert.deepEqual(
      [...(await kv.getWithMetadata(["zero", "empty", "missing"], "json"))],
      [
        ["zero", { value: 0, metadata: "example" }],
        ["empty", { value: "", metadata: null }],
        ["missing", null],
      ],
    );
  });

  test("a bulk get with a wrong number of keys or an invalid key, type or JSON value is refused", async () => {
    const { kv } = await scenes.shared();
    const refused = (message: string) => ({ name: "Error", message: `KV GET_BULK failed: ${message}` });
    const many = Array.from({ length: 101 }, (_, i) => `key${i}`);
    await assert.rejects(kv.get(many), refused("400 You can request a maximum of 100 keys"));
    await assert.rejects(kv.get([]), refused("400 You must request a minimum of 1 key"));
    for (const type of ["stream", "arrayBuffer", "invalid"]) {
      await assert.rejects(
        kv.get(["key"], wrong(type)),
        refused(`400 "${type}" is not a valid type. Use "json" or "text"`),
      );
    }
    await assert.rejects(kv.get(["a", ""]), refused("400 Key names must not be empty"));
    await assert.rejects(
      kv.get(["x".repeat(513)]),
      refused("414 UTF-8 encoded length of 513 exceeds key length limit of 512."),
    );
    await assert.rejects(
      kv.get(["a"], wrong({ cacheTtl: 1 })),
      refused("400 Invalid cache_ttl of 1. Cache TTL must be at least 30."),
    );
    await kv.put("text", "text");
    await assert.rejects(
      kv.get(["text"], "json"),
      refused("400 At least one of the requested keys corresponds to a non-json value"),
    );
  });

  test("a bulk get of more than 25 MiB is refused", async () => {
    const { kv } = await scenes.shared();
    const value = new Uint8Array(13 * 1024 * 1024).fill(97);
    for (const key of ["a", "b"]) await kv.put(key, value);
    await assert.rejects(kv.get(["a", "b"]), {
      message: "KV GET_BULK failed: 413 Total size of request exceeds the limit of 25MB",
    });
    assert.equal((await kv.get(["a"])).get("a")?.length, value.length);
  });
}
