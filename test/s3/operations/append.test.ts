// What a key with the right to append may do: create objects, and use the uploads that it created.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Key } from "../scene.ts";
import { assertRefused, bucket, texts, type VersionedScene, versionedScene } from "../versioned.ts";

async function createUpload({ request }: VersionedScene, path: string, key?: Key): Promise<string> {
  const answer = await request("POST", path, { query: "uploads", ...(key && { key }) });
  assert.equal(answer.status, 200, answer.text);
  return texts(answer.text, "UploadId")[0]!;
}

function completion(etag: string): string {
  return `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${etag}</ETag></Part></CompleteMultipartUpload>`;
}

test("a key that may append does not replace the null version that a delete marker hides", async (t) => {
  const scene = await versionedScene(t, "plain");
  const { request, put, setVersioning, grant } = scene;
  const key = await grant(["append", "read", "list"]);
  await put("log", "first");
  await setVersioning("Enabled");
  assert.equal((await request("DELETE", "log")).status, 204);
  await setVersioning("Suspended");

  assertRefused(await request("PUT", "log", { body: "other", key }), [403, "AccessDenied"]);
  await put("source", "copied");
  const headers = { "x-amz-copy-source": `/${bucket}/source` };
  assertRefused(await request("PUT", "log", { headers, key }), [403, "AccessDenied"]);
  const uploadId = await createUpload(scene, "log", key);
  const query = `partNumber=1&uploadId=${uploadId}`;
  const part = await request("PUT", "log", { query, body: "part", key });
  const body = completion(part.headers.etag!);
  assertRefused(await request("POST", "log", { query: `uploadId=${uploadId}`, body, key }), [
    403,
    "AccessDenied",
  ]);
  assert.equal((await request("GET", "log", { query: "versionId=null" })).text, "first");

  // With versioning on, a new version removes nothing. A caller who may write may replace.
  await setVersioning("Enabled");
  assert.equal((await request("PUT", "log", { body: "second", key })).status, 200);
  assert.equal((await request("GET", "log", { query: "versionId=null" })).text, "first");
  assert.equal((await request("DELETE", "log")).status, 204);
  await setVersioning("Suspended");
  await put("log", "third");
  assert.equal((await request("GET", "log", { query: "versionId=null" })).text, "third");
});

test("a key that may append uses only the multipart uploads that it created", async (t) => {
  const scene = await versionedScene(t, "plain");
  const { request, grant, put } = scene;
  const [one, other, writer] = [
    await grant(["append", "list"]),
    await grant(["append", "list", "read"]),
    await grant(["write"]),
  ];
  const ids = [await createUpload(scene, "big", one), await createUpload(scene, "big", writer)];
  await put("source", "x".repeat(100));
  const etags: string[] = [];
  for (const [index, id] of ids.entries()) {
    const key = [one, writer][index]!;
    const query = `partNumber=1&uploadId=${id}`;
    const sent = await request("PUT", "big", { query, body: `part of ${index}`, key });
    assert.equal(sent.status, 200, sent.text);
    etags.push(sent.headers.etag!);
  }

  for (const [index, id] of ids.entries()) {
    const query = `uploadId=${id}`;
    const refused = [
      await request("PUT", "big", { query: `partNumber=1&${query}`, body: "other", key: other }),
      await request("PUT", "big", {
        query: `partNumber=1&${query}`,
        headers: { "x-amz-copy-source": `/${bucket}/source` },
        key: other,
      }),
      await request("GET", "big", { query, key: other }),
      await request("DELETE", "big", { query, key: other }),
      await request("POST", "big", { query, body: completion(etags[index]!), key: other }),
    ];
    for (const answer of refused) assertRefused(answer, [403, "AccessDenied"]);
  }
  // Its creator and a caller who may write go on with the parts as they were.
  const body = completion(etags[0]!);
  const done = await request("POST", "big", { query: `uploadId=${ids[0]}`, body, key: one });
  assert.equal(done.status, 200, done.text);
  assert.equal((await request("GET", "big")).text, "part of 0");
  const repeated = { query: `uploadId=${ids[0]}`, body };
  assertRefused(await request("POST", "big", { ...repeated, key: other }), [403, "AccessDenied"]);
  assert.equal((await request("POST", "big", { ...repeated, key: one })).status, 200);
  assert.equal((await request("DELETE", "big", { query: `uploadId=${ids[1]}`, key: writer })).status, 204);

  const own = await createUpload(scene, "later", one);
  assert.equal((await request("GET", "later", { query: `uploadId=${own}`, key: one })).status, 200);
  assert.equal((await request("DELETE", "later", { query: `uploadId=${own}`, key: writer })).status, 204);
});
