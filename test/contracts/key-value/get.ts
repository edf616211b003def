// Contract: a get returns the last value of a key in the requested type.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertBytes, sampleBytes } from "../../support/bytes.ts";
import { type Scenes, wrong } from "./scene.ts";

export function getContract(scenes: Scenes): void {
  test("a value of any size can be read as text, JSON, an ArrayBuffer or a stream", async () => {
    const { kv } = await scenes.shared();
    for (const size of [0, 1, 5_000, 300_000]) {
      const text = JSON.stringify("x".repeat(size));
      await kv.put("key", text);
      assert.equal(await kv.get("key"), text);
      assert.equal(await kv.get("key", "text"), text);
      assert.equal(await kv.get("key", { type: "text" }), text);
      assert.equal(await kv.get("key", {}), text);
      assert.equal(await kv.get("key", "json"), "x".repeat(size));
      assert.equal(await kv.get("key", { type: "json" }), "x".repeat(size));
      const bytes = await kv.get("key", "arrayBuffer");
      assert.ok(bytes instanceof ArrayBuffer);
      assertBytes(new Uint8Array(bytes), Buffer.from(text));
      const stream = await kv.get("key", { type: "stream" });
      assert.equal(await new Response(stream).text(), text);
    }
  });

  test("changing a returned ArrayBuffer does not change the stored value", async () => {
    const { kv } = await scenes.shared();
    await kv.put("key", sampleBytes(100));
    const first = new Uint8Array((await kv.get("key", "arrayBuffer"))!);
    first.fill(0);
    assertBytes(new Uint8Array((await kv.get("key", "arrayBuffer"))!), sampleBytes(100));
  });

  test("get of a missing key returns null, whichever type is requested", async () => {
    const { kv } = await scenes.shared();
    for (const type of ["text", "json", "arrayBuffer", "stream"] as const) {
      assert.equal(await kv.get("missing", wrong(type)), null);
      assert.deepEqual(await kv.getWithMetadata("missing", wrong(type)), {
        value: null,
        metadata: null,
        cacheStatus: null,
      });
    }
  });

  test("getWithMetadata returns the value and its metadata", async () => {
    const { kv } = await scenes.shared();
    await kv.put("with", '{"a":1}', { metadata: { role: "admin", tags: ["é"] } });
    await kv.put("without", "text");
    assert.deepEqual(await kv.getWithMetadata("with", "json"), {
      value: { a: 1 },
      metadata: { role: "admin", tags: ["é"] },
      cacheStatus: null,
    });
    assert.deepEqual(await kv.getWithMetadata("without"), {
      value: "text",
      metadata: null,
      cacheStatus: null,
    });
    const { value } = await kv.getWithMetadata("with", { type: "stream" });
    assert.equal(await new Response(value).text(), '{"a":1}');
  });

  test("get with type json fails if the value is not valid JSON", async () => {
    const { kv } = await scenes.shared();
    await kv.put("key", "{");
    await assert.rejects(kv.get("key", "json"), SyntaxError);
  });

  test("get refuses an unknown type and a cacheTtl that is too short", async () => {
    const { kv } = await scenes.shared();
    await kv.put("key", "value");
    const message = 'Unknown response type. Possible types are "text", "arrayBuffer", "json", and "stream".';
    await assert.rejects(kv.get("key", wrong("blob")), new TypeError(message));
    await assert.rejects(kv.get("key", wrong({ type: "blob" })), new TypeError(message));
    await assert.rejects(kv.get("key", wrong(5)), TypeError);
    for (const [cacheTtl, shown] of [
      [10, 10],
      ["not a number", 0],
      [29.9, 29],
    ]) {
      await assert.rejects(kv.get("key", wrong({ cacheTtl })), {
        message: `KV GET failed: 400 Invalid cache_ttl of ${shown}. Cache TTL must be at least 30.`,
      });
    }
    assert.equal(await kv.get("key", { cacheTtl: 30 }), "value");
    assert.equal(await kv.get("key", wrong({ cacheTtl: undefined, type: undefined })), "value");
  });

  test("a stream of a value returns the old value if the key is overwritten meanwhile", async () => {
    const { kv } = await scenes.shared();
    await kv.put("key", sampleBytes(3_000_000));
    const stream = await kv.get("key", "stream");
    await kv.put("key", "other");
    assertBytes(new Uint8Array(await new Response(stream).arrayBuffer()), sampleBytes(3_000_000));
    assert.equal(await kv.get("key"), "other");
  });
}
