// Engine contract: the limit of open multipart uploads per bucket.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bucket, clock, failsWith, type OpenEngine, openBucket } from "./setup.ts";

const refused = { ...failsWith("TooManyUploads"), code: 10058, message: /has 5 multipart uploads open/ };

export function openUploads(open: OpenEngine): void {
  test("a bucket never has more open uploads than the limit, and ended uploads do not count", async (t) => {
    const time = clock();
    const { engine } = await openBucket(open, t, { now: time.now, openUploads: 5 });
    const uploads = await Promise.all(
      ["a", "b", "c", "d", "e"].map((key) => engine.createUpload(bucket, key)),
    );
    await assert.rejects(engine.createUpload(bucket, "f"), refused);
    await engine.createBucket("other");
    await engine.createUpload("other", "of another bucket");
    await engine.abortUpload(bucket, uploads[0]!);
    const part = await engine.uploadPart(bucket, uploads[1]!, 1, Buffer.from("hello"));
    await engine.completeUpload(bucket, uploads[1]!, [part]);
    // The open uploads of a full bucket are counted again only once a second.
    time.time += 1000;
    await engine.createUpload(bucket, "f");
    await engine.createUpload(bucket, "g");
    await assert.rejects(engine.createUpload(bucket, "h"), refused);
    time.time += 1000;
    await assert.rejects(engine.createUpload(bucket, "h"), refused);
    assert.equal((await engine.listUploads(bucket)).uploads.length, 5);
    // Also on a clock that was set back.
    await engine.abortUpload(bucket, (await engine.listUploads(bucket)).uploads[0]!);
    time.time -= 24 * 3600 * 1000;
    await engine.createUpload(bucket, "h");
  });

  test("overdue uploads do not count toward the limit of open uploads", async (t) => {
    const time = clock();
    const { engine } = await openBucket(open, t, { now: time.now, openUploads: 5 });
    for (const key of ["a", "b", "c", "d", "e"]) await engine.createUpload(bucket, key);
    time.time += 8 * 24 * 3600 * 1000;
    await engine.createUpload(bucket, "later");
    assert.ok((await engine.sweep()).uploadsAborted >= 5);
  });
}
