// Uploads of long bodies to a service: in parts, complete or not at all.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import type { ByteStream } from "../../../../src/engine/engine.ts";
import { openService } from "./service.ts";

test("a long body becomes a multipart upload, in one part size, and is read back as it was", async (t) => {
  const { engine, store, bucket } = await openService(t);
  const body = randomBytes(35 * 1024 * 1024);
  for (const length of [body.length, undefined]) {
    const source: ByteStream = {
      length,
      async *chunks() {
        for (let at = 0; at < body.length; at += 1_000_003) yield body.subarray(at, at + 1_000_003);
      },
      cancel: async () => {},
    };
    const put = await store.put(bucket, "long", source);
    assert.ok(put.outcome === "stored" && put.record.size === body.length);
    const described = await store.describe(bucket, "long");
    assert.ok(described.outcome === "found");
    // Without a length, parts are larger: the whole body fits into one.
    assert.deepEqual(
      described.parts?.map(({ size }) => size),
      length === undefined ? undefined : [16, 16, 3].map((count) => count * 1024 * 1024),
    );
    const found = await engine.get(bucket, "long");
    assert.ok(found.outcome === "found");
    const chunks: Uint8Array[] = [];
    for await (const chunk of found.bytes.chunks()) chunks.push(chunk);
    assert.ok(Buffer.concat(chunks).equals(body));
  }
  const uploads = await engine.listUploads(bucket);
  assert.deepEqual(uploads.uploads, []);
});

test("an upload whose source fails leaves neither an object nor an open upload", async (t) => {
  const { engine, store, bucket } = await openService(t);
  const source: ByteStream = {
    length: 40 * 1024 * 1024,
    async *chunks() {
      yield randomBytes(20 * 1024 * 1024);
      yield randomBytes(17 * 1024 * 1024);
      throw new Error("the disk failed");
    },
    cancel: async () => {},
  };
  await assert.rejects(store.put(bucket, "broken", source), /the disk failed/);
  assert.equal(await engine.head(bucket, "broken"), undefined);
  assert.deepEqual((await engine.listUploads(bucket)).uploads, []);
});
