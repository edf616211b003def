// Engine contract: multipart uploads, and the two rules for part sizes.
import assert from "node:assert/strict";
import { multipartEtag } from "../../../src/model/upload.ts";
import { assertBytes, sampleBytes } from "../../support/bytes.ts";
import { bucket, type Chapter, contentOf, day, emptied, exists, failsWith, uploadParts } from "./setup.ts";

const s3PartBytes = 5 * 1024 * 1024;

export const uploads: Chapter = async (t, shared) => {
  await t.test("a new upload is stored with its options and expires after seven days", async () => {
    const { engine, time } = await emptied(shared);
    const customMetadata = new Map([["__proto__", "x"]]);
    const upload = await engine.createUpload(bucket, "film", {
      httpMetadata: { contentType: "video/mp4" },
      customMetadata,
      storageClass: "InfrequentAccess",
    });
    assert.deepEqual([upload.state, upload.created, upload.due], ["active", time.time, time.time + 7 * day]);
    const part = await engine.uploadPart(bucket, upload, 1, Buffer.from("hello"));
    assert.deepEqual([part.number, part.size, part.etag], [1, 5, "5d41402abc4b2a76b9719d911017c592"]);
    time.time += 1000;
    const object = await engine.completeUpload(bucket, upload, [part]);
    assert.equal(object.etag, "62109206880d38a4010a98e11243924a-1");
    assert.deepEqual([object.size, object.uploaded, object.checksums], [5, time.time, {}]);
    assert.equal(object.storageClass, "InfrequentAccess");
    assert.deepEqual(structuredClone(object.httpMetadata), { contentType: "video/mp4" });
    assert.deepEqual(new Map(object.customMetadata), customMetadata);
    assert.deepEqual(structuredClone(await engine.head(bucket, "film")), structuredClone(object));
  });

  await t.test("complete joins parts by number, given in any order, and numbers may have gaps", async () => {
    const { engine } = await emptied(shared);
    const upload = await engine.createUpload(bucket, "a");
    const bodies = { 10000: Buffer.from("!"), 2: Buffer.from("one"), 9: Buffer.from("two") };
    const parts = await uploadParts(engine, upload, bodies);
    const object = await engine.completeUpload(bucket, upload, parts.toReversed());
    assert.equal((await contentOf(engine, "a")).toString(), "onetwo!");
    const byNumber = parts.toSorted((a, b) => a.number - b.number);
    assert.equal(object.etag, multipartEtag(byNumber.map(({ etag }) => etag)));
  });

  await t.test(
    "with uniform part sizes, all parts must have the same size, except the last, which may be smaller",
    async () => {
      const { engine } = await emptied(shared);
      const complete = async (...sizes: number[]) => {
        const upload = await engine.createUpload(bucket, "a");
        const bodies = Object.fromEntries(sizes.map((size, i) => [i + 1, sampleBytes(size)]));
        const parts = await uploadParts(engine, upload, bodies);
        const byDefault = await Promise.allSettled([engine.completeUpload(bucket, upload, parts)]);
        if (byDefault[0].status === "fulfilled") return byDefault[0].value.size;
        const named = engine.completeUpload(bucket, upload, parts, { partSizes: "uniform" });
        await assert.rejects(named, { ...failsWith("UnevenParts"), action: "completeMultipartUpload" });
        return byDefault[0].reason.reason;
      };
      assert.equal(await complete(3), 3);
      assert.equal(await complete(0), 0);
      assert.equal(await complete(3, 3, 3), 9);
      assert.equal(await complete(3, 3, 1), 7);
      assert.equal(await complete(3, 0), 3);
      assert.equal(await complete(3, 2, 3), "UnevenParts");
      assert.equal(await complete(3, 4), "UnevenParts");
      assert.equal(await complete(2, 3, 3), "UnevenParts");
    },
  );

  await t.test("with S3 part sizes, every part except the last must have at least 5 MiB", async () => {
    const { engine } = await emptied(shared);
    const bodies = { 1: sampleBytes(s3PartBytes + 1), 2: sampleBytes(s3PartBytes), 3: sampleBytes(7) };
    const upload = await engine.createUpload(bucket, "a");
    const parts = await uploadParts(engine, upload, bodies);
    await assert.rejects(engine.completeUpload(bucket, upload, parts), failsWith("UnevenParts"));
    const object = await engine.completeUpload(bucket, upload, parts, { partSizes: "s3" });
    assert.equal(object.size, 2 * s3PartBytes + 8);
    assertBytes(await contentOf(engine, "a"), Buffer.concat(Object.values(bodies)));

    const small = await engine.createUpload(bucket, "b");
    const tooSmall = await uploadParts(engine, small, { 1: sampleBytes(s3PartBytes - 1), 2: sampleBytes(1) });
    const completing = engine.completeUpload(bucket, small, tooSmall, { partSizes: "s3" });
    await assert.rejects(completing, failsWith("EntityTooSmall"));
    await engine.completeUpload(bucket, small, tooSmall.slice(1), { partSizes: "s3" });
    assertBytes(await contentOf(engine, "b"), sampleBytes(1));
  });

  await t.test(
    "completing an upload with parts that differ from the uploaded parts fails and keeps the upload",
    async () => {
      const { engine } = await emptied(shared);
      const upload = await engine.createUpload(bucket, "a");
      const [part] = await uploadParts(engine, upload, { 1: sampleBytes(5) });
      const other = await engine.uploadPart(bucket, upload, 2, sampleBytes(4));
      const refused = [
        [],
        [{ number: 3, etag: part!.etag }],
        [{ number: 1, etag: other.etag }],
        [part!, { number: 2, etag: "" }],
      ];
      for (const parts of refused) {
        await assert.rejects(engine.completeUpload(bucket, upload, parts), failsWith("InvalidPart"));
      }
      await assert.rejects(engine.completeUpload(bucket, upload, [part!, part!]), failsWith("UnevenParts"));
      assert.equal(await exists(engine, "a"), false);
      await engine.completeUpload(bucket, upload, [part!]);
      assertBytes(await contentOf(engine, "a"), sampleBytes(5));
    },
  );

  await t.test("an ended upload accepts no parts, and aborting it again has no effect", async () => {
    const { engine } = await emptied(shared);
    const completed = await engine.createUpload(bucket, "a");
    const parts = await uploadParts(engine, completed, { 1: sampleBytes(5) });
    await engine.completeUpload(bucket, completed, parts);
    const aborted = await engine.createUpload(bucket, "a");
    await uploadParts(engine, aborted, { 1: sampleBytes(5) });
    await engine.abortUpload(bucket, aborted);
    for (const upload of [completed, aborted]) {
      await assert.rejects(engine.uploadPart(bucket, upload, 1, sampleBytes(5)), failsWith("NoSuchUpload"));
      await assert.rejects(engine.completeUpload(bucket, upload, parts), failsWith("NoSuchUpload"));
      await engine.abortUpload(bucket, upload);
    }
    assertBytes(await contentOf(engine, "a"), sampleBytes(5));
    for (const name of [
      { key: "a", id: "unknown" },
      { key: "b", id: aborted.id },
    ]) {
      await assert.rejects(engine.abortUpload(bucket, name), {
        ...failsWith("NoSuchUpload"),
        action: "abortMultipartUpload",
      });
    }
  });

  await t.test("the object of an encrypted upload can be read only with the key of its parts", async () => {
    const { engine } = await emptied(shared);
    const customerKey = sampleBytes(32);
    const upload = await engine.createUpload(bucket, "a", { customerKey });
    const parts = [];
    for (const number of [1, 2]) {
      parts.push(await engine.uploadPart(bucket, upload, number, sampleBytes(70_000), { customerKey }));
    }
    const wrong = engine.uploadPart(bucket, upload, 3, sampleBytes(1), { customerKey: new Uint8Array(32) });
    await assert.rejects(wrong, failsWith("InvalidArgument"));
    const object = await engine.completeUpload(bucket, upload, parts);
    assert.equal(object.size, 140_000);
    const content = await contentOf(engine, "a", { customerKey });
    assertBytes(content, Buffer.concat([sampleBytes(70_000), sampleBytes(70_000)]));
    await assert.rejects(engine.get(bucket, "a"), failsWith("InvalidArgument"));
    const stranger = { customerKey: new Uint8Array(32) };
    await assert.rejects(engine.get(bucket, "a", stranger), failsWith("AccessDenied"));
  });
};
