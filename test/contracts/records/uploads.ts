// Records contract: uploads with their order, due times and parts.
import assert from "node:assert/strict";
import fc from "fast-check";
import type { UploadScan } from "../../../src/engine/records.ts";
import { anyPart, anyUpload } from "../../support/arbitraries.ts";
import { partRecord, plain, uploadRecord } from "../../support/samples.ts";
import { apply, bucket, type Chapter, emptyBucket, type OpenedBucket } from "./setup.ts";

export const uploadRecords: Chapter = async (t, ports) => {
  async function withUploads(...names: [string, string][]): Promise<OpenedBucket> {
    const opened = await emptyBucket(ports);
    const uploads = names.map(([key, id]) => uploadRecord(key, { id }));
    await apply(opened.records, ...uploads.map((record) => ({ kind: "put upload" as const, record })));
    return opened;
  }

  await t.test("every field of an upload and its parts is read as it was put", async () => {
    const { records, stageMany } = await emptyBucket(ports);
    const parts = fc.uniqueArray(anyPart, { maxLength: 5, selector: ({ number }) => number });
    await fc.assert(
      fc.asyncProperty(anyUpload, parts, async (record, drawn) => {
        const ids = await stageMany(drawn.length);
        const given = drawn.map((part, i) => ({ ...part, blob: ids[i]! }));
        await apply(
          records,
          { kind: "put upload", record },
          ...given.map((part) => ({ kind: "put part" as const, uploadId: record.id, part })),
        );
        const found = await records.upload(bucket, record.key, record.id);
        assert.deepEqual(plain(found?.record), plain(record));
        const byNumber = given.toSorted((a, b) => a.number - b.number);
        assert.deepEqual(plain(await records.parts(bucket, record.id)), plain(byNumber));
        const listed = await records.uploads(bucket, { prefix: record.key, after: undefined, limit: 10_000 });
        assert.deepEqual(plain(listed.find(({ id }) => id === record.id)), plain(record));
      }),
      { numRuns: 30 },
    );
  });

  await t.test("an upload is found only if both key and id match", async () => {
    const { records } = await withUploads(["a", "u1"], ["a", "u2"], ["b", "u3"]);
    assert.equal((await records.upload(bucket, "a", "u2"))?.record.id, "u2");
    for (const [key, id] of [
      ["b", "u1"],
      ["a", "u3"],
      ["a", ""],
      ["", "u1"],
      ["a", "U1"],
      ["a", "__proto__"],
      ["a", "\ud800"],
      ["a", "x".repeat(5000)],
    ] as const) {
      assert.equal(await records.upload(bucket, key, id), undefined);
    }
    assert.deepEqual(await records.parts(bucket, "unknown"), []);
  });

  await t.test("uploads are listed by key, then by id, after the given start position", async () => {
    // The expected order: by key, then by id, which differs from the order of creation.
    const ordered: [string, string][] = [
      ["", "u9"],
      ["a/1", "u1"],
      ["a/1", "u5"],
      ["a/1", "u7"],
      ["a/2", "u3"],
      ["b", "u2"],
      ["\uffff", "u6"],
      ["\u{1f600}", "u0"],
    ];
    const { records } = await withUploads(...ordered.toReversed());
    const found = async (scan: Partial<UploadScan>) => {
      const uploads = await records.uploads(bucket, { prefix: "", after: undefined, limit: 100, ...scan });
      return uploads.map(({ key, id }) => [key, id]);
    };
    assert.deepEqual(await found({}), ordered);
    assert.deepEqual(await found({ limit: 3 }), ordered.slice(0, 3));
    assert.deepEqual(await found({ limit: 0 }), []);
    assert.deepEqual(await found({ prefix: "a/" }), ordered.slice(1, 5));
    assert.deepEqual(await found({ prefix: "a/1" }), ordered.slice(1, 4));
    assert.deepEqual(await found({ after: { key: "" } }), ordered.slice(1));
    assert.deepEqual(await found({ after: { key: "a/1" } }), ordered.slice(4));
    assert.deepEqual(await found({ after: { key: "a/1", id: "u1" } }), ordered.slice(2));
    assert.deepEqual(await found({ after: { key: "a/1", id: "u11" }, limit: 1 }), ordered.slice(2, 3));
    assert.deepEqual(await found({ after: { key: "a/1", id: "u7" }, prefix: "a/" }), ordered.slice(4, 5));
    assert.deepEqual(await found({ after: { key: "a/11" } }), ordered.slice(4));
    assert.deepEqual(await found({ after: { key: "\uffff" } }), ordered.slice(7));
    assert.deepEqual(await found({ after: { key: "\u{1f600}", id: "u0" } }), []);
  });

  await t.test(
    "dueUploads returns all uploads whose due time has come, whether active or ended",
    async () => {
      const { records } = await emptyBucket(ports);
      const states = ["active", "completed", "aborted"] as const;
      const uploads = states.flatMap((state) =>
        [1000, 2000, 3000].map((due) => uploadRecord("k", { id: `${state}-${due}`, state, due })),
      );
      await apply(records, ...uploads.map((record) => ({ kind: "put upload" as const, record })));
      const due = async (now: number, limit = 100) =>
        (await records.dueUploads(bucket, now, limit)).map(({ id }) => id).sort();
      const expected = (...dues: number[]) =>
        uploads.filter((upload) => dues.includes(upload.due)).map(({ id }) => id);
      assert.deepEqual(await due(999), []);
      assert.deepEqual(await due(1000), expected(1000).sort());
      assert.deepEqual(await due(2999), expected(1000, 2000).sort());
      assert.deepEqual(await due(Number.MAX_SAFE_INTEGER), expected(1000, 2000, 3000).sort());
      assert.equal((await due(3000, 4)).length, 4);
      assert.equal((await due(3000, 0)).length, 0);
      const [first] = await records.dueUploads(bucket, 1000, 1);
      assert.deepEqual(
        plain(first),
        uploads.find(({ id }) => id === first?.id),
      );
    },
  );

  await t.test("an upload put again with a new due time is due only at the new time", async () => {
    const { records } = await emptyBucket(ports);
    const upload = uploadRecord("k", { id: "u1", due: 1000 });
    await apply(records, { kind: "put upload", record: upload });
    await apply(records, { kind: "put upload", record: { ...upload, state: "aborted", due: 2000 } });
    assert.deepEqual(await records.dueUploads(bucket, 1999, 10), []);
    const [due] = await records.dueUploads(bucket, 2000, 10);
    assert.equal(due?.state, "aborted");
    await apply(records, { kind: "delete upload", key: "k", id: "u1" });
    assert.deepEqual(await records.dueUploads(bucket, 2000, 10), []);
    assert.equal(await records.upload(bucket, "k", "u1"), undefined);
  });

  await t.test(
    "parts of an upload are returned by number, and a part put again replaces the old part",
    async () => {
      const { records, stage } = await withUploads(["a", "u1"], ["a", "u2"]);
      const blob = await stage("1", "2", "9", "10", "100", "10000", "again", "other");
      const put = (uploadId: string, number: number, id: string) =>
        apply(records, { kind: "put part", uploadId, part: partRecord(number, id) });
      for (const number of [10, 9, 10_000, 1, 2, 100] as const) await put("u1", number, blob[`${number}`]);
      await put("u1", 9, blob.again);
      await put("u2", 9, blob.other);
      const parts = (await records.parts(bucket, "u1")).map((part) => [part.number, part.blob]);
      assert.deepEqual(parts, [
        [1, blob["1"]],
        [2, blob["2"]],
        [9, blob.again],
        [10, blob["10"]],
        [100, blob["100"]],
        [10_000, blob["10000"]],
      ]);
      assert.equal((await records.parts(bucket, "u2")).length, 1);
    },
  );

  await t.test("the revision of an upload changes with every change of the upload or its parts", async () => {
    const { records, stageMany } = await withUploads(["a", "u1"], ["a", "u2"]);
    const revision = async (id: string) => (await records.upload(bucket, "a", id))!.revision;
    const untouched = await revision("u2");
    let last = await revision("u1");
    const increased = async () => {
      const now = await revision("u1");
      assert(now > last, `${now} follows ${last}`);
      last = now;
    };
    for (const [i, blob] of (await stageMany(4)).entries()) {
      await apply(records, { kind: "put part", uploadId: "u1", part: partRecord(1 + (i % 2), blob) });
      await increased();
    }
    await apply(records, { kind: "put upload", record: uploadRecord("a", { id: "u1", due: 5 }) });
    await increased();
    assert.equal((await records.parts(bucket, "u1")).length, 2);
    assert.equal(await revision("u2"), untouched);
  });

  await t.test("parts of one upload that are put concurrently are all kept", async () => {
    const { records, stageMany } = await withUploads(["a", "u1"]);
    const before = (await records.upload(bucket, "a", "u1"))!.revision;
    const blobs = await stageMany(100);
    await Promise.all(
      blobs.map((blob, i) =>
        apply(records, { kind: "put part", uploadId: "u1", part: partRecord(i + 1, blob) }),
      ),
    );
    const parts = await records.parts(bucket, "u1");
    assert.deepEqual(
      parts.map(({ blob }) => blob),
      blobs,
    );
    assert((await records.upload(bucket, "a", "u1"))!.revision >= before + 100);
  });
};
