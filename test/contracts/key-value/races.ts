// Contract: concurrent writers and readers of a key, during maintenance.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Scenes } from "./scene.ts";

export function racesContract(scenes: Scenes): void {
  test("after concurrent puts to one key, its value and metadata come from the same put", async () => {
    const { kv } = await scenes.shared();
    const writer = async (name: string) => {
      for (let i = 0; i < 30; i++) {
        const metadata = `${name}-${i}`;
        await kv.put("key", metadata.repeat(i % 2 === 0 ? 1 : 1000), { metadata });
      }
    };
    let isWriting = true;
    const reader = async () => {
      while (isWriting) {
        const { value, metadata } = await kv.getWithMetadata<string>("key");
        if (value !== null) assert.ok(value.startsWith(metadata!), `${metadata} with ${value.slice(0, 20)}`);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const reading = [reader(), reader()];
    await Promise.all(["a", "b", "c", "d"].map(writer)).finally(() => {
      isWriting = false;
    });
    await Promise.all(reading);
    assert.equal((await kv.list()).keys.length, 1);
  });

  test("a get after a resolved put returns the value of that put, also under concurrent load", async () => {
    const { kv } = await scenes.shared();
    const lane = async (key: string) => {
      for (let i = 0; i < 30; i++) {
        await kv.put(key, String(i));
        assert.equal(await kv.get(key), String(i));
        assert.equal((await kv.list({ prefix: key })).keys.length, 1);
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, i) => lane(`key-${i}`)));
  });

  test("an expired key that is put again during a sweep is not removed", async (t) => {
    const { store, kv, clock } = await scenes.own(t);
    const names = Array.from({ length: 300 }, (_, i) => `key-${String(i).padStart(3, "0")}`);
    for (const name of names) await kv.put(name, "old", { expirationTtl: 60 });
    clock.time += 60_000;
    const again = names.filter((_, i) => i % 2 === 0);
    const sweeping = store.sweep();
    await Promise.all(again.map((name) => kv.put(name, "new")));
    await sweeping;
    for (const name of again) assert.equal(await kv.get(name), "new", name);
    assert.equal((await kv.list()).keys.length, again.length);
  });
}
