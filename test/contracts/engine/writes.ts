// Engine contract: outcomes of put and delete, and what they store.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { checksumAlgorithms } from "../../../src/model/checksums/checksum.ts";
import type { Condition } from "../../../src/model/condition.ts";
import { assertBytes, inChunks, sampleBytes } from "../../support/bytes.ts";
import { bucket, type Chapter, contentOf, emptied, exists, failsWith, found, probe } from "./setup.ts";

export const writes: Chapter = async (t, shared) => {
  await t.test("a put whose condition fails returns the failed clause and stores nothing", async () => {
    const { engine } = await emptied(shared);
    const put = await engine.put(bucket, "a", sampleBytes(10));
    assert(put.outcome === "stored");
    const { etag, uploaded } = put.record;
    const refusals: [string, Condition, string][] = [
      ["a", { etagMatches: [{ value: "other", weak: false }] }, "etagMatches"],
      ["a", { etagDoesNotMatch: [{ value: etag, weak: true }] }, "etagDoesNotMatch"],
      ["a", { etagDoesNotMatch: "*" }, "etagDoesNotMatch"],
      ["a", { uploadedBefore: uploaded }, "uploadedBefore"],
      ["a", { uploadedAfter: uploaded }, "uploadedAfter"],
      ["missing", { etagMatches: "*" }, "etagMatches"],
      ["missing", { uploadedAfter: 0 }, "uploadedAfter"],
    ];
    for (const [key, condition, clause] of refusals) {
      for (const source of [sampleBytes(5000), probe(sampleBytes(5000))]) {
        assert.deepEqual(await engine.put(bucket, key, source, { condition }), {
          outcome: "refused",
          clause,
        });
      }
    }
    assert.equal((await engine.head(bucket, "a"))?.version, put.record.version);
    assert.equal(await exists(engine, "missing"), false);
    const allowed: Condition[] = [{ etagDoesNotMatch: "*" }, { uploadedBefore: 0 }];
    for (const [i, condition] of allowed.entries()) {
      const stored = await engine.put(bucket, `new-${i}`, sampleBytes(1), { condition });
      assert.equal(stored.outcome, "stored");
    }
  });

  await t.test("a body is stored identically whether it arrives whole or in chunks of any size", async () => {
    const { engine } = await emptied(shared);
    for (const size of [0, 1, 4095, 4096, 4097, 16_384, 65_536, 300_001]) {
      const bytes = sampleBytes(size);
      const etag = createHash("md5").update(bytes).digest("hex");
      for (const chunkSize of [Math.max(1, Math.ceil(size / 500)), 4097, 1_000_000]) {
        const put = await engine.put(bucket, "a", probe(bytes, { chunkSize, length: size }));
        assert(put.outcome === "stored");
        assert.deepEqual([put.record.size, put.record.etag], [size, etag]);
        assertBytes(await contentOf(engine, "a"), bytes, `${size} in chunks of ${chunkSize}`);
      }
    }
  });

  await t.test(
    "a put stores the MD5 and a given checksum that matches, and is refused if the checksum does not match",
    async () => {
      const { engine } = await emptied(shared);
      for (const size of [10, 10_000]) {
        const bytes = sampleBytes(size);
        for (const algorithm of checksumAlgorithms) {
          const value = createHash(algorithm).update(bytes).digest();
          const put = await engine.put(bucket, "a", bytes, { checksums: [{ algorithm, value }] });
          assert(put.outcome === "stored");
          const kept = Object.keys(put.record.checksums).sort();
          assert.deepEqual(kept, [...new Set(["md5", algorithm])].sort());
          assertBytes(put.record.checksums[algorithm]!, value);
          const wrong = createHash(algorithm).update("other").digest();
          const failing = engine.put(bucket, "a", bytes, { checksums: [{ algorithm, value: wrong }] });
          await assert.rejects(failing, { ...failsWith("BadDigest"), action: "put" });
          assert.equal((await engine.head(bucket, "a"))?.version, put.record.version);
        }
      }
    },
  );

  await t.test("a stored body does not change when the caller changes its buffer", async () => {
    const { engine } = await emptied(shared);
    const upload = await engine.createUpload(bucket, "u");
    for (const size of [10, 5000, 70_000]) {
      const bytes = sampleBytes(size);
      await engine.put(bucket, "a", bytes);
      const part = await engine.uploadPart(bucket, upload, 1, bytes);
      assert.equal(part.etag, createHash("md5").update(sampleBytes(size)).digest("hex"));
      bytes.fill(0);
      assertBytes(await contentOf(engine, "a"), sampleBytes(size));
    }
  });

  await t.test("a stream may reuse a chunk's memory once the next chunk is requested", async () => {
    const { engine } = await emptied(shared);
    const bytes = sampleBytes(100_000);
    async function* reusing() {
      const buffer = new Uint8Array(1000);
      for await (const chunk of inChunks(bytes, 1000)) {
        buffer.set(chunk);
        yield buffer;
      }
    }
    await engine.put(bucket, "a", { chunks: reusing, cancel: async () => {} });
    assertBytes(await contentOf(engine, "a"), bytes);
  });

  await t.test("versions differ even if the clock stops or is set back", async () => {
    const { engine, time } = await emptied(shared);
    const versions = new Set<string>();
    for (const step of [0, 0, -1000, 500]) {
      time.time += step;
      const put = await engine.put(bucket, "a", sampleBytes(10));
      assert(put.outcome === "stored");
      versions.add(put.record.version);
      const got = await found(engine, "a");
      assert.equal(got.record.version, put.record.version);
      assert.equal(got.record.uploaded, time.time);
    }
    assert.equal(versions.size, 4);
  });

  await t.test("the metadata given to put is stored unchanged", async () => {
    const { engine } = await emptied(shared);
    const httpMetadata = { contentType: "text/plain; charset=utf-8", cacheExpiry: 8.64e15 };
    const customMetadata = new Map([
      ["__proto__", "polluted"],
      ["constructor", "é\u{1f600}"],
      ["", ""],
    ]);
    await engine.put(bucket, "a", sampleBytes(1), { httpMetadata, customMetadata });
    const record = (await engine.head(bucket, "a"))!;
    assert.deepEqual(structuredClone(record.httpMetadata), httpMetadata);
    assert.deepEqual(new Map(record.customMetadata), customMetadata);
    assert.deepEqual(structuredClone(record.checksums.md5!.length), 16);
  });

  await t.test("a delete of several keys is atomic: with one invalid key nothing is deleted", async () => {
    const { engine } = await emptied(shared);
    await engine.put(bucket, "a", sampleBytes(1));
    await engine.put(bucket, "b", sampleBytes(5000));
    await assert.rejects(engine.delete(bucket, ["a", "x".repeat(1025)]), failsWith("InvalidObjectName"));
    await assert.rejects(engine.delete(bucket, ["a", "\ud800"]), failsWith("InvalidObjectName"));
    const many = Array.from({ length: 1001 }, () => "a");
    await assert.rejects(engine.delete(bucket, many), { ...failsWith("TooManyKeys"), action: "delete" });
    assert.equal(await exists(engine, "a"), true);
    await engine.delete(bucket, []);
    await engine.delete(bucket, ["a", "b", "a", "missing"]);
    assert.deepEqual((await engine.list(bucket)).objects, []);
  });

  await t.test("an encrypted object can be read only with its own key", async () => {
    const { engine } = await emptied(shared);
    const customerKey = sampleBytes(32);
    for (const size of [0, 10, 70_000]) {
      await engine.put(bucket, "a", sampleBytes(size), { customerKey });
      assertBytes(await contentOf(engine, "a", { customerKey }), sampleBytes(size));
      await assert.rejects(engine.get(bucket, "a"), failsWith("InvalidArgument"));
      const wrong = { customerKey: new Uint8Array(32) };
      await assert.rejects(engine.get(bucket, "a", wrong), { ...failsWith("AccessDenied"), action: "get" });
    }
    await engine.put(bucket, "plain", sampleBytes(10));
    await assert.rejects(engine.get(bucket, "plain", { customerKey }), failsWith("InvalidArgument"));
  });
};
