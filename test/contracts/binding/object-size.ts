// Tests the maximum object size of binding.md. Parts are recorded without their bytes, because
// complete does not read them and five terabytes are too much for a test.
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { StoreBucket } from "../../../src/binding/bucket.ts";
import { parseCompatibility } from "../../../src/binding/compatibility.ts";
import { createEngine } from "../../../src/engine/create.ts";
import { createMemoryBlobs } from "../../../src/memory/blobs.ts";
import { createMemoryRecords } from "../../../src/memory/records.ts";
import { limits } from "../../../src/model/limits.ts";
import { messageOf } from "./errors/reason-table.ts";
import { digest, rejectsWith } from "./scene.ts";

const etag = digest("md5", "a part of the largest size");

async function uploadOfRecords(t: TestContext, sizes: readonly number[]) {
  const records = createMemoryRecords();
  const engine = createEngine({ records, blobs: createMemoryBlobs() });
  t.after(() => engine.close());
  await engine.createBucket("bucket");
  const bucket = new StoreBucket(engine, "bucket", parseCompatibility(undefined));
  const upload = await bucket.createMultipartUpload("key");
  await records.commit("bucket", {
    mutations: sizes.map((size, i) => ({
      kind: "put part",
      uploadId: upload.uploadId,
      part: { number: i + 1, size, etag, uploaded: 0, blob: `blob-${i}`, stored: size },
    })),
  });
  return { bucket, upload, parts: sizes.map((_, i) => ({ partNumber: i + 1, etag })) };
}

export function objectSizeContract(): void {
  describe("an object of the maximum size can be completed, and a larger one is refused", () => {
    test("completing an upload of more than 5,492,189,429,760 bytes is refused with 100100 EntityTooLarge", async (t) => {
      const sizes = [...new Array<number>(1024).fill(limits.singleWriteBytes), 1];
      const { bucket, upload, parts } = await uploadOfRecords(t, sizes);
      await bucket.put("key", "the previous object");
      const action = "completeMultipartUpload";
      await rejectsWith({ code: 100100, action, message: messageOf(100100) }, () => upload.complete(parts));
      const previous = await bucket.get("key");
      assert.ok(previous !== null && "text" in previous);
      assert.equal(await previous.text(), "the previous object");
      // Without the extra byte the object has the maximum size, and the refused upload completes.
      const object = await upload.complete(parts.slice(0, 1024));
      assert.equal(object.size, 5_492_189_429_760);
      assert.equal((await bucket.head("key"))?.size, 5_492_189_429_760);
    });

    test("complete does not read the parts: an upload of 10000 parts whose bytes are not stored completes", async (t) => {
      const { upload, parts } = await uploadOfRecords(t, new Array<number>(10_000).fill(1024));
      const object = await upload.complete(parts);
      assert.equal(object.size, 10_000 * 1024);
      assert.match(object.etag, /^[0-9a-f]{32}-10000$/);
    });
  });
}
