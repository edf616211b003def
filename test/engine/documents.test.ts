// Tests on every implementation: documents, bucket totals, inspection of objects and verification.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { createEngine } from "../../src/engine/create.ts";
import type { InspectedObject } from "../../src/engine/records.ts";
import { compareKeys } from "../../src/model/key.ts";
import { apply, bucket, bucketRecord, emptyBucket } from "../contracts/records/setup.ts";
import { inChunks, sampleBytes, toArray } from "../support/bytes.ts";
import { portPairs } from "../support/ports.ts";
import {
  inBlob,
  inline,
  inParts,
  objectRecord,
  partRecord,
  plain,
  putObject,
  uploadRecord,
} from "../support/samples.ts";

const noBucket = { name: "StoreError", reason: "NoSuchBucket" };

for (const pair of portPairs) {
  test(`documents are stored, listed and versioned in ${pair.name}`, async (t) => {
    const { documents } = (await pair.open(t)).records;

    await t.test("get of a document that was never put returns undefined", async () => {
      assert.equal(await documents.get("note", "a"), undefined);
      assert.deepEqual(await documents.list("note"), []);
      assert.equal(await documents.delete("note", "a"), false);
    });

    await t.test("a document is stored only if it has the expected revision", async () => {
      assert.equal(await documents.put("seen", "a", "one", undefined), "committed");
      const first = (await documents.get("seen", "a"))!;
      assert.deepEqual([first.name, first.text], ["a", "one"]);
      assert.equal(await documents.put("seen", "a", "again", undefined), "conflict");
      assert.equal(await documents.put("seen", "a", "again", first.revision + 1), "conflict");
      assert.equal(await documents.put("seen", "b", "again", first.revision), "conflict");
      assert.equal(await documents.get("seen", "b"), undefined);
      assert.deepEqual(await documents.get("seen", "a"), first);
      assert.equal(await documents.put("seen", "a", "two", first.revision), "committed");
      const second = (await documents.get("seen", "a"))!;
      assert.equal(second.text, "two");
      assert.notEqual(second.revision, first.revision);
      assert.equal(await documents.put("seen", "a", "late", first.revision), "conflict");
    });

    await t.test(
      "putting a document again with the same text, or after a delete, gives it a new revision",
      async () => {
        const revisions = new Set<number>();
        for (let i = 0; i < 3; i++) {
          assert.equal(await documents.put("again", "a", "same", undefined), "committed");
          const { revision } = (await documents.get("again", "a"))!;
          assert.equal(await documents.put("again", "a", "same", revision), "committed");
          revisions.add(revision).add((await documents.get("again", "a"))!.revision);
          assert.equal(await documents.delete("again", "a"), true);
          assert.equal(await documents.delete("again", "a"), false);
          assert.equal(await documents.put("again", "a", "late", revision), "conflict");
        }
        assert.equal(revisions.size, 6);
      },
    );

    await t.test("a document is deleted only if it has the expected revision", async () => {
      await documents.put("revised", "a", "one", undefined);
      const { revision } = (await documents.get("revised", "a"))!;
      await documents.put("revised", "a", "two", revision);
      assert.equal(await documents.delete("revised", "a", revision), false);
      const second = (await documents.get("revised", "a"))!;
      assert.equal(second.text, "two");
      assert.equal(await documents.delete("revised", "a", second.revision), true);
      assert.equal(await documents.delete("revised", "a", second.revision), false);
      assert.equal(await documents.get("revised", "a"), undefined);
    });

    await t.test(
      "exactly one of several concurrent puts on the same revision of a document is committed",
      async () => {
        const texts = Array.from({ length: 8 }, (_, i) => `text ${i}`);
        for (let round = 0; round < 3; round++) {
          const seen = (await documents.get("race", "a"))?.revision;
          const outcomes = await Promise.all(texts.map((text) => documents.put("race", "a", text, seen)));
          assert.deepEqual(outcomes.filter((outcome) => outcome === "committed").length, 1);
          assert.equal((await documents.get("race", "a"))?.text, texts[outcomes.indexOf("committed")]);
        }
      },
    );

    await t.test("list returns only the documents of the given kind, sorted by name", async () => {
      const names = ["b", "a", "a/b", "a-b", "A", "", "é", "\u{1f511}", "\uffff", "__proto__"];
      for (const name of names)
        assert.equal(await documents.put("kind", name, `of ${name}`, undefined), "committed");
      await documents.put("kin", "a", "another", undefined);
      await documents.put("kind/", "a", "another", undefined);
      const listed = await documents.list("kind");
      assert.deepEqual(
        listed.map(({ name, text }) => [name, text]),
        [...names].sort(compareKeys).map((name) => [name, `of ${name}`]),
      );
      for (const document of listed) assert.deepEqual(await documents.get("kind", document.name), document);
      assert.equal((await documents.list("kin")).length, 1);
    });

    await t.test("list with a prefix returns only the documents whose names begin with it", async () => {
      for (const name of ["a", "a/", "a/b", "a/\u{1f511}", "a/\uffff", "a0", "b/a/", "é/a"])
        await documents.put("folder", name, "text", undefined);
      const below = async (prefix: string) =>
        (await documents.list("folder", prefix)).map(({ name }) => name);
      assert.deepEqual(await below("a/"), ["a/", "a/b", "a/\uffff", "a/\u{1f511}"]);
      assert.deepEqual(await below("é"), ["é/a"]);
      assert.deepEqual(await below("a/c"), []);
      assert.equal((await below("")).length, 8);
    });

    await t.test("a document with any name and any text is returned unchanged", async () => {
      // Remove NUL, which ends a text in SQLite; stored names and texts never contain it.
      const text = fc.string({ unit: "binary", maxLength: 40 }).map((drawn) => drawn.replaceAll("\0", ""));
      await fc.assert(
        fc.asyncProperty(text, text, text, async (kind, name, content) => {
          const seen = (await documents.get(kind, name))?.revision;
          assert.equal(await documents.put(kind, name, content, seen), "committed");
          assert.equal((await documents.get(kind, name))?.text, content);
          assert.ok((await documents.list(kind)).some((one) => one.name === name && one.text === content));
        }),
        { numRuns: 25 },
      );
      const long = "0123456789".repeat(50_000);
      assert.equal(await documents.put("long", "a", long, undefined), "committed");
      assert.equal((await documents.get("long", "a"))?.text, long);
    });
  });

  test(`totals, inspection and blob references are correct in ${pair.name}`, async (t) => {
    const ports = await pair.open(t);

    await t.test("totals contain the number of objects and the sum of their sizes", async () => {
      const { records, stage } = await emptyBucket(ports);
      const totals = async () => {
        const { objects, bytes } = await records.totals(bucket);
        return { objects, bytes };
      };
      assert.deepEqual(await totals(), { objects: 0, bytes: 0 });
      const { large } = await stage("large");
      const put = (key: string, size: number) =>
        ({ kind: "put object", record: objectRecord(key, { size }), body: inline("x") }) as const;
      await apply(records, put("a", 5), put("b", 0), { ...put("c", 70_000), body: inBlob(large) });
      assert.deepEqual(await totals(), { objects: 3, bytes: 70_005 });
      await apply(records, put("a", 5_363_466_240), put("b", 1));
      assert.deepEqual(await totals(), { objects: 3, bytes: 5_363_536_241 });
      await apply(records, { kind: "delete object", key: "a" }, { kind: "delete object", key: "none" });
      assert.deepEqual(await totals(), { objects: 2, bytes: 70_001 });
      await apply(records, { kind: "put upload", record: uploadRecord("a") });
      assert.deepEqual(await totals(), { objects: 2, bytes: 70_001 }, "uploads in flight do not count");
      const refused = {
        checks: [{ kind: "object", key: "b", version: "another" }],
        mutations: [put("d", 9)],
      } as const;
      assert.equal(await records.commit(bucket, refused), "conflict");
      assert.deepEqual(await totals(), { objects: 2, bytes: 70_001 });
    });

    await t.test("an inspection returns every object with its body, in key order", async () => {
      const { records, stage } = await emptyBucket(ports);
      assert.deepEqual(await toArray(records.inspect(bucket)), []);
      const { one, two } = await stage("one", "two");
      const keys = Array.from({ length: 1100 }, (_, i) => `key ${i}`);
      keys.push("", "\0", "é", "\uffff", "\u{1f511}", "a", "A");
      await apply(records, ...keys.map((key) => putObject(key, inline(key))));
      await apply(records, putObject("a", inBlob(one)), putObject("A", inParts(two)));
      const inspected = await toArray(records.inspect(bucket));
      assert.deepEqual(
        inspected.map(({ key }) => key),
        [...keys].sort(compareKeys),
      );
      for (const { key, found } of inspected.filter((_, i) => i % 50 === 0).concat(inspected.slice(-9))) {
        assert.deepEqual(plain(found), plain(await records.objectWithBody(bucket, key)), key);
      }
    });

    await t.test("an inspection continues while objects are put and deleted", async () => {
      const { records } = await emptyBucket(ports);
      await apply(records, ...["a", "b", "c"].map((key) => putObject(key)));
      const seen: InspectedObject[] = [];
      for await (const one of records.inspect(bucket)) {
        seen.push(one);
        await apply(records, { kind: "delete object", key: one.key }, putObject(`${one.key}0`));
        if (seen.length > 20) break;
      }
      assert.deepEqual(
        ["a", "b", "c"].filter((key) => !seen.some((one) => one.key === key)),
        [],
      );
    });

    await t.test(
      "a blob is referenced from the commit that names it until its garbage entry is acknowledged",
      async () => {
        const { records, stage } = await emptyBucket(ports);
        const ids = await stage("body", "part", "taken", "never");
        const known = async () => {
          const answers = Object.entries(ids).map(async ([label, id]) => [
            label,
            await records.referencesBlob(bucket, id),
          ]);
          return (await Promise.all(answers)).filter(([, isKnown]) => isKnown).map(([label]) => label);
        };
        assert.deepEqual(await known(), []);
        const upload = uploadRecord("c");
        await apply(
          records,
          putObject("a", inBlob(ids.body)),
          { kind: "put upload", record: upload },
          { kind: "put part", uploadId: upload.id, part: partRecord(1, ids.part) },
          { kind: "put part", uploadId: upload.id, part: partRecord(2, ids.taken) },
        );
        assert.deepEqual(await known(), ["body", "part", "taken"]);
        await apply(
          records,
          { kind: "delete object", key: "a" },
          { kind: "end parts", uploadId: upload.id, taken: [2] },
          putObject("c", inParts(ids.taken)),
        );
        assert.deepEqual(
          await known(),
          ["body", "part", "taken"],
          "queued garbage still counts as referenced",
        );
        await records.ackGarbage(bucket, await records.garbage(bucket, 0, 100));
        assert.deepEqual(await known(), ["taken"]);
      },
    );

    await t.test(
      "totals, inspection and blob references of a missing bucket reject with NoSuchBucket",
      async () => {
        const { records } = ports;
        await assert.rejects(records.totals("nowhere"), noBucket);
        await assert.rejects(toArray(records.inspect("nowhere")), noBucket);
        await assert.rejects(
          records.referencesBlob("nowhere", "0000000000000000.0000000000000000.0"),
          noBucket,
        );
      },
    );
  });

  test(`verification reports damaged and missing bodies on ${pair.name}`, async (t) => {
    const { records, blobs } = await pair.open(t);
    const engine = createEngine({ records, blobs });
    const md5 = (bytes: Uint8Array) => createHash("md5").update(bytes).digest("hex");

    /** Creates a bucket, calls `act`, and deletes the bucket. */
    async function withBucket(act: () => Promise<void>): Promise<void> {
      assert.equal(await records.createBucket(bucketRecord(bucket)), true);
      await act();
      const { objects } = await engine.list(bucket);
      const keys = objects.map(({ key }) => key);
      await engine.delete(bucket, keys);
      await engine.deleteBucket(bucket);
    }

    await t.test("verification of an intact store reads everything and reports no damage", () =>
      withBucket(async () => {
        await engine.put(bucket, "empty", new Uint8Array());
        await engine.put(bucket, "small", sampleBytes(4096));
        await engine.put(bucket, "large", sampleBytes(200_000));
        await engine.put(bucket, "sealed", sampleBytes(100), { customerKey: sampleBytes(32) });
        const whole = await engine.createUpload(bucket, "parts");
        const part = await engine.uploadPart(bucket, whole, 1, sampleBytes(100_000));
        await engine.completeUpload(bucket, whole, [part]);
        const flying = await engine.createUpload(bucket, "flying");
        await engine.uploadPart(bucket, flying, 7, sampleBytes(5000));
        const progress: { objects: number; bytes: number }[] = [];
        const report = await engine.verify({ onProgress: (done) => progress.push({ ...done }) });
        assert.deepEqual(report.damages, []);
        assert.deepEqual([report.buckets, report.objects], [1, 5]);
        assert.ok(report.bytes >= 4096 + 200_000 + 100_000 + 100 + 5000, `${report.bytes} bytes`);
        assert.deepEqual(
          progress.map(({ objects }) => objects),
          [1, 2, 3, 4, 5],
        );
        assert.ok(progress.every(({ bytes }, i) => i === 0 || bytes >= progress[i - 1]!.bytes));
      }),
    );

    await t.test(
      "verification reports bytes that do not match their etag by key, and continues with the next object",
      () =>
        withBucket(async () => {
          const bytes = sampleBytes(70_000);
          const { id, size, keep } = await blobs.stage(bucket, inChunks(bytes, 10_000));
          keep();
          const body = { storage: "blob", blob: { id, size } } as const;
          const other = md5(sampleBytes(1));
          await apply(
            records,
            { kind: "put object", record: objectRecord("a blob", { size, etag: other }), body },
            {
              kind: "put object",
              record: objectRecord("inline", { size: 1, etag: other }),
              body: inline("x"),
            },
            {
              kind: "put object",
              record: objectRecord("right", { size: 1, etag: md5(Buffer.from("x")) }),
              body: inline("x"),
            },
          );
          const { damages, objects } = await engine.verify();
          const what = "The stored data is damaged: the bytes do not match their etag.";
          assert.deepEqual(damages, [
            { bucket, key: "a blob", what },
            { bucket, key: "inline", what },
          ]);
          assert.equal(objects, 3);
        }),
    );

    await t.test("verification reports a missing body by key", () =>
      withBucket(async () => {
        // Put a body in a separate file: removing a blob from a shared segment deletes no bytes.
        await engine.put(bucket, "gone", sampleBytes(300_000));
        const [id] = await toArray(blobs.all(bucket));
        assert.equal(await blobs.remove(bucket, [id!]), true);
        const upload = await engine.createUpload(bucket, "flying");
        const { blob } = await engine.uploadPart(bucket, upload, 3, sampleBytes(5000));
        assert.equal(await blobs.remove(bucket, [blob]), true);
        const { damages } = await engine.verify();
        assert.deepEqual(
          damages.map((damage) => [damage.bucket, damage.key]),
          [
            [bucket, "gone"],
            [bucket, "flying"],
          ],
        );
        assert.match(damages[1]!.what, /^Part 3: /);
      }),
    );
  });
}
