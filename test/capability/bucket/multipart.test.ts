// Multipart uploads in the bucket protocol.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { openScene, type Scene } from "./scene.ts";

async function createUpload({ send }: Scene, fields: object = {}): Promise<string> {
  const { status, metadata } = await send({ method: "createMultipartUpload", object: "a", ...fields });
  assert.equal(status, 200);
  return metadata.uploadId as string;
}

test("an upload of parts becomes an object with the metadata of its creation", async (t) => {
  const scene = await openScene(t);
  const { send } = scene;
  const uploadId = await createUpload(scene, {
    httpFields: { contentType: "text/plain" },
    customFields: [{ k: "k", v: "v" }],
    storageClass: "InfrequentAccess",
  });
  const upload = { object: "a", uploadId };
  const parts: { part: number; etag: unknown }[] = [];
  for (const [i, text] of ["hello", " worl", "d"].entries()) {
    const { metadata } = await send({ method: "uploadPart", ...upload, partNumber: i + 1 }, text);
    assert.equal(metadata.etag, createHash("md5").update(text).digest("hex"));
    parts.push({ part: i + 1, etag: metadata.etag });
  }
  const completed = await send({ method: "completeMultipartUpload", ...upload, parts });
  assert.equal(completed.status, 200);
  assert.match(completed.metadata.etag as string, /-3$/);
  assert.deepEqual(completed.metadata.httpFields, { contentType: "text/plain" });
  assert.deepEqual(completed.metadata.customFields, [{ k: "k", v: "v" }]);
  assert.deepEqual([completed.metadata.size, completed.metadata.storageClass], ["11", "InfrequentAccess"]);
  assert.equal((await send({ method: "get", object: "a" })).text, "hello world");
  const late = await send({ method: "uploadPart", ...upload, partNumber: 1 }, "late");
  assert.deepEqual([late.status, late.code], [404, 10024]);
});

test("an aborted upload and an unknown upload take no parts", async (t) => {
  const scene = await openScene(t);
  const { send } = scene;
  const upload = { object: "a", uploadId: await createUpload(scene) };
  assert.equal((await send({ method: "abortMultipartUpload", ...upload })).status, 200);
  assert.equal((await send({ method: "abortMultipartUpload", ...upload })).status, 200);
  assert.equal((await send({ method: "uploadPart", ...upload, partNumber: 1 }, "x")).code, 10024);
  const unknown = { object: "a", uploadId: "unknown" };
  assert.equal((await send({ method: "abortMultipartUpload", ...unknown })).code, 10024);
  assert.equal((await send({ method: "completeMultipartUpload", ...unknown, parts: [] })).code, 10024);
});

test("parts that are missing, uneven or out of range are refused", async (t) => {
  const scene = await openScene(t);
  const { send } = scene;
  const upload = { object: "a", uploadId: await createUpload(scene) };
  const sendPart = async (partNumber: number, text: string) => {
    const { metadata } = await send({ method: "uploadPart", ...upload, partNumber }, text);
    return { part: partNumber, etag: metadata.etag };
  };
  const complete = async (parts: unknown) =>
    (await send({ method: "completeMultipartUpload", ...upload, parts })).code;
  const parts = [await sendPart(1, "a"), await sendPart(2, "bb")];
  assert.equal(await complete(parts), 10048);
  assert.equal(await complete([]), 10025);
  assert.equal(await complete([{ part: 3, etag: parts[0]!.etag }]), 10025);
  for (const partNumber of [0, -1, 1.5, 10_001, "x", null]) {
    const { status, code } = await send({ method: "uploadPart", ...upload, partNumber }, "x");
    assert.deepEqual([status, code], [400, 10029], String(partNumber));
  }
});

test("an upload with a customer key needs that key for every part", async (t) => {
  const scene = await openScene(t);
  const { send } = scene;
  const ssec = { key: "ab".repeat(32) };
  const created = await send({ method: "createMultipartUpload", object: "a", ssec });
  const keyMd5 = createHash("md5").update(Buffer.from(ssec.key, "hex")).digest("hex");
  assert.deepEqual(created.metadata.ssec, { algorithm: "AES256", keyMd5 });
  const upload = { object: "a", uploadId: created.metadata.uploadId };
  assert.equal((await send({ method: "uploadPart", ...upload, partNumber: 1 }, "x")).code, 10029);
  const { metadata } = await send({ method: "uploadPart", ...upload, partNumber: 1, ssec }, "x");
  const parts = [{ part: 1, etag: metadata.etag }];
  assert.equal((await send({ method: "completeMultipartUpload", ...upload, parts })).status, 200);
  assert.equal((await send({ method: "get", object: "a", ssec })).text, "x");
});
