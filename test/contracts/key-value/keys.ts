// Contract: valid keys are stored, and each method refuses invalid keys.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { StoreKvNamespace } from "../../../src/index.ts";
import { type Scenes, testUnlessDifferent, wrong } from "./scene.ts";

type Use = (kv: StoreKvNamespace, key: string) => Promise<unknown>;

const methods: Readonly<Record<string, Use>> = {
  GET: (kv, key) => kv.get(key),
  PUT: (kv, key) => kv.put(key, "value"),
  DELETE: (kv, key) => kv.delete(key),
};

export function keysContract(scenes: Scenes): void {
  test('a key that is empty, ".", ".." or longer than 512 UTF-8 bytes is refused', async () => {
    const { kv } = await scenes.shared();
    const uses = [...Object.entries(methods), ["GET", (n, key) => n.getWithMetadata(key)] as [string, Use]];
    for (const [method, use] of uses) {
      await assert.rejects(use(kv, ""), new TypeError("Key name cannot be empty."));
      await assert.rejects(use(kv, "."), new TypeError('"." is not allowed as a key name.'));
      await assert.rejects(use(kv, ".."), new TypeError('".." is not allowed as a key name.'));
      for (const [key, length] of [
        ["x".repeat(513), 513],
        ["é".repeat(257), 514],
      ] as const) {
        await assert.rejects(use(kv, key), {
          name: "Error",
          message: `KV ${method} failed: 414 UTF-8 encoded length of ${length} exceeds key length limit of 512.`,
        });
      }
    }
  });

  test("every valid key is stored unchanged, without normalization", async () => {
    const { kv } = await scenes.shared();
    const keys = [
      ...["...", "/", "a/../b", "a\0b", " ", "%2e", "KEY", "key", "__proto__", "\u{10ffff}", "\uffff"],
      ...["é".normalize("NFC"), "é".normalize("NFD"), "x".repeat(512), "é".repeat(256)],
    ];
    for (const [i, key] of keys.entries()) await kv.put(key, String(i));
    for (const [i, key] of keys.entries()) assert.equal(await kv.get(key), String(i), key);
    assert.equal((await kv.list()).keys.length, keys.length);
  });

  testUnlessDifferent(
    scenes,
    "a key that is not a string is converted to one, and a missing key is refused",
    async () => {
      const { kv } = await scenes.shared();
      await kv.put(wrong(7), "seven");
      assert.equal(await kv.get("7"), "seven");
      for (const use of Object.values(methods)) {
        await assert.rejects(use(kv, wrong(undefined)), TypeError);
        await assert.rejects(use(kv, wrong(Symbol("key"))), TypeError);
      }
    },
  );

  test("a lone surrogate in a key or value is replaced with U+FFFD", async () => {
    const { kv } = await scenes.shared();
    await kv.put("a\ud800", "b\ud800");
    assert.equal(await kv.get("a\ud800"), "b\ufffd");
    assert.equal(await kv.get("a\ufffd"), "b\ufffd");
  });
}
