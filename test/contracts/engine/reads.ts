// Engine contract: outcomes of get and describe, the returned bytes, and pages of a listing.
import assert from "node:assert/strict";
import type { Condition } from "../../../src/model/condition.ts";
import { assertBytes, collect, sampleBytes } from "../../support/bytes.ts";
import {
  blobsLeft,
  bucket,
  type Chapter,
  contentOf,
  emptied,
  failsWith,
  found,
  uploadParts,
} from "./setup.ts";

const tag = (value: string) => [{ value, weak: false }];

export const reads: Chapter = async (t, shared) => {
  await t.test("a get of an existing key returns its record, range and bytes", async () => {
    const { engine, time } = await emptied(shared);
    for (const size of [0, 5, 4096, 4097, 200_000]) {
      const put = await engine.put(bucket, "a", sampleBytes(size));
      assert(put.outcome === "stored");
      const got = await found(engine, "a");
      assert.deepEqual(structuredClone(got.record), structuredClone(put.record));
      assert.deepEqual(structuredClone(await engine.head(bucket, "a")), structuredClone(put.record));
      assert.deepEqual({ ...got.range }, { offset: 0, length: size });
      assert.equal(got.bytes.length, size);
      assertBytes(await collect(got.bytes.chunks()), sampleBytes(size));
      assert.match(put.record.version, /^[0-9a-f]{32}$/);
      assert.equal(put.record.uploaded, time.time);
    }
  });

  await t.test('a get of a missing key returns "missing" with any options', async () => {
    const { engine } = await emptied(shared);
    const missing = { outcome: "missing" };
    assert.deepEqual(await engine.get(bucket, "a"), missing);
    assert.deepEqual(await engine.get(bucket, "a", { range: { offset: 9 } }), missing);
    assert.deepEqual(await engine.get(bucket, "a", { condition: { etagMatches: "*" } }), missing);
    assert.deepEqual(await engine.get(bucket, "a", { customerKey: new Uint8Array(32) }), missing);
    assert.equal(await engine.head(bucket, "a"), undefined);
  });

  await t.test(
    "a get whose condition fails returns the failed clause and does not check the range or SSE-C key",
    async () => {
      const { engine } = await emptied(shared);
      const put = await engine.put(bucket, "a", sampleBytes(5000));
      assert(put.outcome === "stored");
      const { etag, uploaded } = put.record;
      const refusals: [Condition, string][] = [
        [{ etagMatches: tag("other") }, "etagMatches"],
        [{ etagMatches: [{ value: etag, weak: true }] }, "etagMatches"],
        [{ etagDoesNotMatch: tag(etag) }, "etagDoesNotMatch"],
        [{ etagDoesNotMatch: "*" }, "etagDoesNotMatch"],
        [{ uploadedBefore: uploaded }, "uploadedBefore"],
        [{ uploadedAfter: uploaded }, "uploadedAfter"],
        [{ etagMatches: tag(etag), uploadedAfter: uploaded }, "uploadedAfter"],
        [{ etagMatches: tag("other"), etagDoesNotMatch: tag(etag) }, "etagMatches"],
      ];
      for (const [condition, clause] of refusals) {
        for (const rest of [{}, { range: { offset: 9999 } }, { customerKey: new Uint8Array(32) }]) {
          const got = await engine.get(bucket, "a", { condition, ...rest });
          assert(got.outcome === "refused", clause);
          assert.equal(got.clause, clause);
          assert.equal(got.record.version, put.record.version);
        }
      }
      const holding: Condition[] = [
        { etagMatches: tag(etag), uploadedBefore: uploaded - 1 },
        { etagDoesNotMatch: tag("other"), uploadedAfter: uploaded + 1 },
        { uploadedBefore: uploaded + 1, uploadedAfter: uploaded - 1 },
      ];
      for (const condition of holding) {
        assertBytes(await contentOf(engine, "a", { condition }), sampleBytes(5000));
      }
    },
  );

  await t.test("get of a range that contains no byte of the object fails with InvalidRange", async () => {
    const { engine } = await emptied(shared);
    await engine.put(bucket, "a", sampleBytes(5));
    await engine.put(bucket, "empty", new Uint8Array(0));
    for (const range of [{ offset: 5 }, { offset: 42, length: 1 }, { length: 0 }, { suffix: 0 }]) {
      await assert.rejects(engine.get(bucket, "a", { range }), {
        ...failsWith("InvalidRange"),
        action: "get",
      });
    }
    await assert.rejects(engine.get(bucket, "empty", { range: { suffix: 1 } }), failsWith("InvalidRange"));
  });

  await t.test(
    "get of a range across blocks or parts returns exactly its bytes, encrypted or not",
    async () => {
      const { engine } = await emptied(shared);
      const partSize = 65_536 + 100;
      const whole = sampleBytes(2 * partSize + 70_000 - 65_536);
      const sealing = { customerKey: sampleBytes(32) };
      const keys = ["whole", "whole sealed", "parts", "parts sealed"];
      for (const key of keys) {
        const options = key.endsWith("sealed") ? sealing : {};
        if (key.startsWith("whole")) {
          await engine.put(bucket, key, whole, options);
          continue;
        }
        const upload = await engine.createUpload(bucket, key, options);
        const parts = [];
        for (let number = 1; number <= 3; number++) {
          const body = whole.subarray((number - 1) * partSize, number * partSize);
          parts.push(await engine.uploadPart(bucket, upload, number, body, options));
        }
        await engine.completeUpload(bucket, upload, parts);
      }
      const marks = [
        0,
        1,
        65_535,
        65_536,
        65_537,
        partSize - 1,
        partSize,
        partSize + 1,
        2 * partSize,
        whole.length,
      ];
      for (const key of keys) {
        const options = key.endsWith("sealed") ? sealing : {};
        for (const offset of marks) {
          for (const end of marks.filter((mark) => mark > offset)) {
            const range = { offset, length: end - offset };
            const content = await contentOf(engine, key, { ...options, range });
            assertBytes(content, whole.subarray(offset, end), `${key} ${offset}-${end}`);
          }
        }
        const last = await contentOf(engine, key, { ...options, range: { suffix: 70 } });
        assertBytes(last, whole.subarray(-70), key);
      }
    },
  );

  await t.test("get returns a small body, or a range of it, as one chunk instead of a stream", async () => {
    const { engine } = await emptied(shared);
    await engine.put(bucket, "a", sampleBytes(100));
    const { bytes } = await found(engine, "a", { range: { offset: 10, length: 20 } });
    assert(bytes.inline !== undefined);
    assertBytes(bytes.inline, sampleBytes(100).subarray(10, 30));
    assertBytes(await collect(bytes.chunks()), sampleBytes(100).subarray(10, 30));
  });

  await t.test(
    "a get returns the bytes of one version, even if the object is replaced before they are read",
    async () => {
      const { engine } = await emptied(shared);
      const upload = await engine.createUpload(bucket, "parts");
      const parts = await uploadParts(engine, upload, { 1: sampleBytes(9000), 2: sampleBytes(9000) });
      await engine.completeUpload(bucket, upload, parts);
      await engine.put(bucket, "blob", sampleBytes(200_000));
      await engine.put(bucket, "inline", sampleBytes(10));
      const before = [
        await found(engine, "parts"),
        await found(engine, "blob"),
        await found(engine, "inline"),
      ];
      await engine.delete(bucket, ["parts"]);
      await engine.put(bucket, "blob", sampleBytes(3));
      await engine.put(bucket, "inline", new Uint8Array(10));
      await engine.sweep();
      const contents = await Promise.all(before.map(({ bytes }) => collect(bytes.chunks())));
      assertBytes(contents[0]!, Buffer.concat([sampleBytes(9000), sampleBytes(9000)]));
      assertBytes(contents[1]!, sampleBytes(200_000));
      assertBytes(contents[2]!, sampleBytes(10));
    },
  );

  await t.test("describe evaluates conditions before it checks the SSE-C key, as get does", async () => {
    const { engine } = await emptied(shared);
    assert.deepEqual(await engine.describe(bucket, "a"), { outcome: "missing" });
    await engine.put(bucket, "a", sampleBytes(3), { customerKey: sampleBytes(32) });
    const condition = { etagDoesNotMatch: "*" } as const;
    for (const outcome of [
      await engine.describe(bucket, "a", { condition }),
      await engine.get(bucket, "a", { condition }),
    ]) {
      assert.ok(outcome.outcome === "refused");
      assert.equal(outcome.clause, "etagDoesNotMatch");
      assert.equal(outcome.record.size, 3);
    }
    await assert.rejects(engine.describe(bucket, "a", { condition: { etagMatches: "*" } }));
  });

  await t.test(
    "the blobs of a body are released after it is cancelled, abandoned or read to its end",
    async () => {
      const opened = await emptied(shared);
      const { engine } = opened;
      const upload = await engine.createUpload(bucket, "a");
      const parts = await uploadParts(engine, upload, { 1: sampleBytes(200_000), 2: sampleBytes(200_000) });
      await engine.completeUpload(bucket, upload, parts);
      const [unread, begun, read] = [
        await found(engine, "a"),
        await found(engine, "a"),
        await found(engine, "a"),
      ];
      await engine.delete(bucket, ["a"]);
      await unread.bytes.cancel();
      await unread.bytes.cancel();
      for await (const chunk of begun.bytes.chunks()) {
        assert(chunk.length > 0);
        break;
      }
      assert.equal((await collect(read.bytes.chunks())).length, 400_000);
      assert.equal(await blobsLeft(opened), 0);
      await Promise.all([begun.bytes.cancel(), read.bytes.cancel()]);
    },
  );

  await t.test(
    "list counts prefixes toward the limit, clamps the limit, and the last page has no cursor",
    async () => {
      const { engine } = await emptied(shared);
      const keys = Array.from({ length: 12 }, (_, i) => `k/${String(i).padStart(2, "0")}`);
      await Promise.all([...keys, "a/b/c", "z"].map((key) => engine.put(bucket, key, sampleBytes(1))));
      const grouped = await engine.list(bucket, { delimiter: "/" });
      assert.deepEqual(grouped.prefixes, ["a/", "k/"]);
      assert.deepEqual(
        grouped.objects.map(({ key }) => key),
        ["z"],
      );
      assert.equal(grouped.cursor, undefined);
      const listed: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await engine.list(bucket, { prefix: "k/", limit: 5, cursor });
        listed.push(...page.objects.map(({ key }) => key));
        cursor = page.cursor;
      } while (cursor !== undefined);
      assert.deepEqual(listed, keys);
      const none = await engine.list(bucket, { limit: 0 });
      assert.deepEqual([none.objects, none.prefixes, none.cursor === undefined], [[], [], false]);
      assert.equal((await engine.list(bucket, { cursor: none.cursor, limit: 5000 })).objects.length, 14);
      assert.equal((await engine.list(bucket, { startAfter: "k/10", prefix: "k/" })).objects.length, 1);
      await assert.rejects(engine.list(bucket, { cursor: "Zm9yZWlnbg" }), failsWith("InvalidArgument"));
      for (const limit of [-1, Number.NaN]) {
        await assert.rejects(engine.list(bucket, { limit }), failsWith("InvalidMaxKeys"));
      }
    },
  );

  await t.test("a page of a list ends early if its metadata is large", async () => {
    const { engine } = await emptied(shared);
    const customMetadata = new Map([["note", "x".repeat(8000)]]);
    const keys = Array.from({ length: 50 }, (_, i) => `k${i}`);
    await Promise.all(keys.map((key) => engine.put(bucket, key, sampleBytes(0), { customMetadata })));
    const bare = await engine.list(bucket);
    assert.deepEqual([bare.objects.length, bare.cursor], [50, undefined]);
    const first = await engine.list(bucket, { withMetadata: true });
    assert(first.objects.length > 0 && first.objects.length < 50, `${first.objects.length} of 50`);
    const rest = await engine.list(bucket, { withMetadata: true, cursor: first.cursor });
    assert.equal(first.objects.length + rest.objects.length, 50);
    assert.equal(rest.cursor, undefined);
  });
};
