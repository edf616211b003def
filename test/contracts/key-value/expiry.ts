// Contract: an expired key is absent immediately, and a sweep removes it unless it was put again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleBytes } from "../../support/bytes.ts";
import { type Scenes, start } from "./scene.ts";

export function expiryContract(scenes: Scenes): void {
  test("a key exists until its expiration and is absent from then on", async () => {
    const { kv, clock } = await scenes.shared();
    await kv.put("inline", "value", { expirationTtl: 60, metadata: 1 });
    await kv.put("blob", sampleBytes(100_000), { expiration: start + 60 });
    clock.time = (start + 60) * 1000 - 1;
    assert.equal(await kv.get("inline"), "value");
    assert.equal((await kv.get("blob", "arrayBuffer"))?.byteLength, 100_000);
    assert.equal((await kv.list()).keys.length, 2);
    clock.time += 1;
    assert.equal(await kv.get("inline"), null);
    assert.equal(await kv.get("blob", "stream"), null);
    assert.deepEqual(await kv.getWithMetadata("inline"), { value: null, metadata: null, cacheStatus: null });
    assert.deepEqual([...(await kv.get(["inline"]))], [["inline", null]]);
    assert.deepEqual(await kv.list(), { keys: [], list_complete: true, cacheStatus: null });
  });

  test("a list omits expired keys, and has no cursor if only expired keys remain", async () => {
    const { kv, clock } = await scenes.shared();
    for (let i = 0; i < 30; i++) {
      const options = i % 3 === 0 ? {} : { expirationTtl: 60 };
      await kv.put(`key-${String(i).padStart(2, "0")}`, "value", options);
    }
    clock.time += 60_000;
    const page = await kv.list({ limit: 9 });
    assert.deepEqual(
      page.keys.map(({ name }) => name),
      ["00", "03", "06", "09", "12", "15", "18", "21", "24"].map((name) => `key-${name}`),
    );
    assert.ok(!page.list_complete);
    assert.deepEqual(await kv.list({ cursor: page.cursor }), {
      keys: [{ name: "key-27" }],
      list_complete: true,
      cacheStatus: null,
    });
    const all = await kv.list({ limit: 10 });
    assert.deepEqual([all.keys.length, all.list_complete], [10, true]);
  });

  test("a put without an expiration removes the expiration of a key", async () => {
    const { kv, clock } = await scenes.shared();
    await kv.put("key", "first", { expirationTtl: 60 });
    await kv.put("key", "second");
    clock.time += 120_000;
    assert.equal(await kv.get("key"), "second");
    assert.deepEqual((await kv.list()).keys, [{ name: "key" }]);
  });

  test("a sweep removes expired keys with their bytes and keeps all other keys", async (t) => {
    const { store, kv, clock } = await scenes.own(t);
    await kv.put("kept", "value");
    await kv.put("later", "value", { expirationTtl: 120 });
    await kv.put("again", sampleBytes(100_000), { expirationTtl: 60 });
    for (let i = 0; i < 250; i++) await kv.put(`gone-${i}`, "value", { expirationTtl: 60 });
    await kv.put("gone-large", sampleBytes(100_000), { expirationTtl: 60 });
    clock.time += 60_000;
    await kv.put("again", "value");
    assert.equal((await store.sweep()).objectsExpired, 251);
    assert.equal((await store.sweep()).objectsExpired, 0);
    const names = (await kv.list()).keys.map(({ name }) => name);
    assert.deepEqual(names, ["again", "kept", "later"]);
    clock.time -= 60_000;
    assert.equal(await kv.get("gone-0"), null, "it is removed, not only hidden");
  });
}

/** This contract tests only the engine, so one implementation is enough. */
export function manyExpiredContract(scenes: Scenes): void {
  test("a list that skips very many expired keys returns an empty page with a cursor", async () => {
    const { kv, clock } = await scenes.shared();
    const count = 21_000;
    for (let i = 0; i < count; i += 500) {
      const names = Array.from({ length: 500 }, (_, j) => `a-${i + j}`);
      await Promise.all(names.map((name) => kv.put(name, "", { expirationTtl: 60 })));
    }
    await kv.put("b", "value");
    clock.time += 60_000;
    const first = await kv.list();
    assert.deepEqual([first.keys, first.list_complete], [[], false]);
    const second = await kv.list({ cursor: first.list_complete ? "" : first.cursor });
    assert.deepEqual([second.keys, second.list_complete], [[{ name: "b" }], true]);
  });
}
