// Engine contract: paged listings of uploads and parts, and reads of one part.
import assert from "node:assert/strict";
import type { ListUploadsOptions } from "../../../src/engine/uploads/upload-operations.ts";
import { assertBytes, sampleBytes } from "../../support/bytes.ts";
import { bucket, type Chapter, contentOf, emptied, failsWith, found, uploadParts } from "./setup.ts";

export const uploadListing: Chapter = async (t, shared) => {
  await t.test("uploads are listed by key and id, in pages without gaps or repetitions", async () => {
    const { engine } = await emptied(shared);
    const made = [];
    for (const key of ["b", "a/1", "a/2", "a/1", "c"]) made.push(await engine.createUpload(bucket, key));
    const ended = await engine.createUpload(bucket, "a/0");
    await engine.abortUpload(bucket, ended);
    const order = (a: { key: string; id: string }, b: { key: string; id: string }) =>
      a.key < b.key || (a.key === b.key && a.id < b.id) ? -1 : 1;
    const wanted = made.map(({ key, id }) => ({ key, id })).sort(order);
    const paged = async (options: ListUploadsOptions) => {
      const all: string[] = [];
      let after: ListUploadsOptions["after"];
      do {
        const page = await engine.listUploads(bucket, { ...options, after });
        assert.ok(page.uploads.length + page.prefixes.length <= options.limit!);
        all.push(...page.uploads.map(({ key, id }) => `${key} ${id}`), ...page.prefixes);
        after = page.next;
      } while (after !== undefined);
      return all;
    };
    for (const limit of [1, 2, 5, 1000]) {
      assert.deepEqual(
        await paged({ limit }),
        wanted.map(({ key, id }) => `${key} ${id}`),
      );
      const grouped = await paged({ limit, delimiter: "/" });
      assert.deepEqual(grouped.map((text) => text.split(" ")[0]).sort(), ["a/", "b", "c"]);
      assert.equal((await paged({ limit, prefix: "a/" })).length, 3);
    }
  });

  await t.test("a listing of uploads ends its page after many ended ones, and goes on after it", async () => {
    const { engine, records } = await emptied(shared);
    const { key, id, ...fields } = await engine.createUpload(bucket, "b");
    await engine.abortUpload(bucket, { key, id });
    const ended = (i: number) => ({
      ...fields,
      key: "a",
      id: i.toString(16).padStart(32, "0"),
      state: "aborted",
    });
    for (let i = 0; i < 10_500; i += 1500) {
      const mutations = Array.from(
        { length: 1500 },
        (_, n) => ({ kind: "put upload", record: ended(i + n) }) as const,
      );
      assert.equal(await records.commit(bucket, { mutations } as never), "committed");
    }
    const open = await engine.createUpload(bucket, "c");
    const first = await engine.listUploads(bucket, { limit: 1 });
    assert.deepEqual([first.uploads, first.next?.key], [[], "a"]);
    const second = await engine.listUploads(bucket, { limit: 1, after: first.next });
    assert.deepEqual(
      second.uploads.map(({ id }) => id),
      [open.id],
    );
  });

  await t.test("uploads of one key are listed by the time of their creation", async () => {
    const { engine, time } = await emptied(shared);
    const ids: string[] = [];
    for (let i = 0; i < 20; i++) {
      ids.push((await engine.createUpload(bucket, "a")).id);
      time.time++;
    }
    const { uploads } = await engine.listUploads(bucket);
    assert.deepEqual(
      uploads.map(({ id }) => id),
      ids,
    );
  });

  await t.test("parts of an upload are listed by number, in pages", async () => {
    const { engine } = await emptied(shared);
    const upload = await engine.createUpload(bucket, "a");
    await uploadParts(engine, upload, { 5: sampleBytes(5), 1: sampleBytes(1), 9: sampleBytes(9) });
    const first = await engine.listParts(bucket, upload, { limit: 2 });
    assert.deepEqual([first.parts.map(({ number }) => number), first.isTruncated], [[1, 5], true]);
    const second = await engine.listParts(bucket, upload, { after: 5 });
    assert.deepEqual(
      [second.parts.map(({ number, size }) => [number, size]), second.isTruncated],
      [[[9, 9]], false],
    );
    await engine.abortUpload(bucket, upload);
    await assert.rejects(engine.listParts(bucket, upload), failsWith("NoSuchUpload"));
  });

  await t.test(
    "get with a part number returns the bytes of that part, and describe returns the size of each part",
    async () => {
      const { engine } = await emptied(shared);
      const upload = await engine.createUpload(bucket, "a");
      const [one, two] = [sampleBytes(70_000), sampleBytes(500)];
      await engine.completeUpload(bucket, upload, await uploadParts(engine, upload, { 3: one, 7: two }));
      assertBytes(await contentOf(engine, "a", { part: 2 }), two);
      assert.deepEqual((await found(engine, "a", { part: 1 })).range, { offset: 0, length: 70_000 });
      await assert.rejects(engine.get(bucket, "a", { part: 3 }), failsWith("InvalidPartNumber"));
      const described = await engine.describe(bucket, "a");
      assert.ok(described.outcome === "found");
      assert.deepEqual(
        described.parts?.map(({ number, size }) => [number, size]),
        [
          [3, 70_000],
          [7, 500],
        ],
      );
      await engine.put(bucket, "b", sampleBytes(3));
      assertBytes(await contentOf(engine, "b", { part: 1 }), sampleBytes(3));
      await assert.rejects(engine.get(bucket, "b", { part: 2 }), failsWith("InvalidPartNumber"));
      const result = await engine.completedUpload(bucket, upload);
      assert.equal(result?.etag, described.record.etag);
    },
  );

  await t.test(
    "every range of an object of parts is that of its current version, however often read",
    async () => {
      const { engine } = await emptied(shared);
      for (const seed of [1, 2]) {
        const bodies = [5000, 5000, 5000, 5000, 7].map((size) => sampleBytes(size + seed).subarray(seed));
        const upload = await engine.createUpload(bucket, "a");
        const numbered = Object.fromEntries(bodies.map((body, index) => [index + 1, body]));
        const parts = await uploadParts(engine, upload, numbered);
        await engine.completeUpload(bucket, upload, parts);
        const whole = Buffer.concat(bodies);
        for (const offset of [0, 4999, 5000, 14_998, 19_999, 20_000, whole.length - 1]) {
          for (const length of [1, 2, 5003, 100_000]) {
            const content = await contentOf(engine, "a", { range: { offset, length } });
            assertBytes(content, whole.subarray(offset, offset + length));
          }
        }
      }
      const described = await engine.describe(bucket, "a", { parts: "omit" });
      assert.ok(described.outcome === "found");
      assert.deepEqual([described.record.size, described.parts], [20_007, undefined]);
    },
  );

  await t.test("a delete with an etag condition deletes the object only if its etag matches", async () => {
    const { engine } = await emptied(shared);
    const put = await engine.put(bucket, "a", sampleBytes(3));
    assert(put.outcome === "stored");
    const matching = (value: string) => ({ condition: { etagMatches: [{ value, weak: false }] } });
    await assert.rejects(engine.delete(bucket, ["a"], matching("other")), failsWith("PreconditionFailed"));
    assert.ok(await engine.head(bucket, "a"));
    await engine.delete(bucket, ["a"], matching(put.record.etag));
    assert.equal(await engine.head(bucket, "a"), undefined);
  });

  await t.test("a delete with an etag condition is refused if the object does not exist", async () => {
    const { engine } = await emptied(shared);
    const named = { condition: { etagMatches: [{ value: "x", weak: false }] } };
    await assert.rejects(engine.delete(bucket, ["a"], named), failsWith("NoSuchKey"));
    const any = { condition: { etagMatches: "*" as const } };
    await assert.rejects(engine.delete(bucket, ["a"], any), failsWith("PreconditionFailed"));
    await engine.delete(bucket, ["a"]);
  });
};
