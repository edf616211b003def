// Contract: accepted and refused values of put. A refused put stores nothing and cancels its
// stream.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertBytes, sampleBytes } from "../../support/bytes.ts";
import { type Scenes, start, streamOf, testUnlessDifferent, wrong } from "./scene.ts";

const valueBytes = 25 * 1024 * 1024;

export function putContract(scenes: Scenes): void {
  test("put stores strings, buffers, views and streams", async () => {
    const { kv } = await scenes.shared();
    const bytes = sampleBytes(10_000);
    const view = new DataView(bytes.buffer, bytes.byteOffset + 10, 20);
    const buffer = Uint8Array.from(bytes).buffer;
    const stored = async () => new Uint8Array((await kv.get("key", "arrayBuffer"))!);
    for (const [value, expected] of [
      ["", Buffer.alloc(0)],
      ["é\u{1f600}", Buffer.from("é\u{1f600}")],
      [buffer, bytes],
      [bytes, bytes],
      [view, bytes.subarray(10, 30)],
      [new Blob([bytes]).stream(), bytes],
      [new Response(bytes).body!, bytes],
    ] as const) {
      await kv.put("key", value);
      assertBytes(await stored(), expected);
    }
  });

  testUnlessDifferent(
    scenes,
    "put converts numbers and other primitives to strings, and refuses other objects",
    async () => {
      const { kv } = await scenes.shared();
      for (const value of [0, true, null, 12n]) {
        await kv.put("key", wrong(value));
        assert.equal(await kv.get("key"), String(value));
      }
      const message =
        "KV put() accepts only strings, ArrayBuffers, ArrayBufferViews, and ReadableStreams as values.";
      for (const value of [{}, [], new Date(), new Blob([]), () => 0]) {
        await assert.rejects(kv.put("key", wrong(value)), new TypeError(message));
      }
      await assert.rejects(kv.put("key", wrong(undefined)), TypeError);
      assert.equal(await kv.get("key"), "12");
    },
  );

  test("a value of 25 MiB is stored, and a value of one byte more is refused", async () => {
    const { kv } = await scenes.shared();
    const message = `KV PUT failed: 413 Value length of ${valueBytes + 1} exceeds limit of ${valueBytes}.`;
    await kv.put("key", new Uint8Array(valueBytes));
    assert.equal((await kv.get("key", "arrayBuffer"))?.byteLength, valueBytes);
    await kv.put("key", streamOf(valueBytes).stream);
    await assert.rejects(kv.put("key", new Uint8Array(valueBytes + 1)), { name: "Error", message });
    await assert.rejects(kv.put("key", "x".repeat(valueBytes + 1)), { message });
    await assert.rejects(kv.put("key", streamOf(valueBytes + 1).stream), { message });
    assert.equal((await kv.get("key", "arrayBuffer"))?.byteLength, valueBytes);
  });

  testUnlessDifferent(
    scenes,
    "an endless stream is cancelled at the size limit, and nothing is stored",
    async () => {
      const { kv } = await scenes.shared();
      const { stream, state } = streamOf(Number.POSITIVE_INFINITY, 1024 * 1024);
      await assert.rejects(
        kv.put("key", stream),
        /^Error: KV PUT failed: 413 Value length of \d+ exceeds limit/,
      );
      assert.equal(state.cancelled, true);
      assert.ok(state.pulled < valueBytes + 4 * 1024 * 1024, String(state.pulled));
      assert.equal(await kv.get("key"), null);
    },
  );

  testUnlessDifferent(
    scenes,
    "a put whose stream fails stores nothing and rejects with the stream's error",
    async () => {
      const { kv } = await scenes.shared();
      const stream = new ReadableStream({
        pull: (controller) => controller.error(new Error("the sender is gone")),
      });
      await assert.rejects(kv.put("key", stream), /the sender is gone/);
      assert.equal(await kv.get("key"), null);
    },
  );

  testUnlessDifferent(scenes, "a put with an invalid argument cancels its stream", async () => {
    const { kv } = await scenes.shared();
    for (const [key, options] of [
      ["", {}],
      ["x".repeat(513), {}],
      ["key", { expirationTtl: 1 }],
      ["key", { metadata: "x".repeat(1024) }],
    ] as const) {
      const { stream, state } = streamOf(1000);
      await assert.rejects(kv.put(key, stream, options));
      assert.equal(state.cancelled, true);
    }
  });

  test("metadata of up to 1,024 bytes of JSON is stored, and larger metadata is refused", async () => {
    const { kv } = await scenes.shared();
    const metadata = (length: number) => ({ key: "x".repeat(length - '{"key":""}'.length) });
    await kv.put("key", "value", { metadata: metadata(1024) });
    assert.deepEqual((await kv.getWithMetadata("key")).metadata, metadata(1024));
    await assert.rejects(kv.put("key", "other", { metadata: metadata(1025) }), {
      name: "Error",
      message: "KV PUT failed: 413 Metadata length of 1025 exceeds limit of 1024.",
    });
    await assert.rejects(kv.put("key", "other", { metadata: "é".repeat(512) }), /Metadata length of 1026/);
    await assert.rejects(kv.put("key", "other", { metadata: () => 0 }), TypeError);
    for (const kept of [0, false, "", "text", [1], { "": 1 }]) {
      await kv.put("key", "value", { metadata: kept });
      assert.deepEqual((await kv.getWithMetadata("key")).metadata, kept);
    }
    for (const none of [null, undefined]) {
      await kv.put("key", "value", { metadata: none });
      assert.equal((await kv.getWithMetadata("key")).metadata, null);
    }
    assert.deepEqual((await kv.list()).keys, [{ name: "key" }]);
  });

  test("put refuses expirations that are in the past, too soon or not a number", async () => {
    const { kv } = await scenes.shared();
    const past = "Please specify integer greater than the current number of seconds since the UNIX epoch.";
    const soon = "Expiration times must be at least 60 seconds in the future.";
    for (const [options, message] of [
      [{ expirationTtl: "nan" }, "expiration_ttl of 0. Please specify integer greater than 0."],
      [{ expirationTtl: 0 }, "expiration_ttl of 0. Please specify integer greater than 0."],
      [{ expirationTtl: -1 }, "expiration_ttl of -1. Please specify integer greater than 0."],
      [{ expirationTtl: 59 }, "expiration_ttl of 59. Expiration TTL must be at least 60."],
      [
        { expirationTtl: Number.POSITIVE_INFINITY },
        "expiration_ttl of 0. Please specify integer greater than 0.",
      ],
      [{ expiration: "nan" }, `expiration of 0. ${past}`],
      [{ expiration: start }, `expiration of ${start}. ${past}`],
      [{ expiration: start + 59 }, `expiration of ${start + 59}. ${soon}`],
    ] as const) {
      await assert.rejects(kv.put("key", "value", wrong(options)), {
        name: "Error",
        message: `KV PUT failed: 400 Invalid ${message}`,
      });
    }
    assert.equal(await kv.get("key"), null);
    await kv.put("a", "value", { expirationTtl: 60 });
    await kv.put("b", "value", { expiration: start + 60 });
    await kv.put("c", "value", wrong({ expirationTtl: "100.9", expiration: start + 1000 }));
    const found = (await kv.list()).keys.map(({ name, expiration }) => [name, expiration]);
    assert.deepEqual(found, [
      ["a", start + 60],
      ["b", start + 60],
      ["c", start + 100],
    ]);
  });
}
