// Tags of objects and buckets over S3.
import assert from "node:assert/strict";
import { test } from "node:test";
import { boundary, encodeForm, signedFields } from "../form.ts";
import { assertRefused, bucket, texts, type VersionedScene, versionedScene } from "../versioned.ts";

type Pairs = readonly (readonly [string, string])[];

function tagging(pairs: Pairs): string {
  const tags = pairs.map(([key, value]) => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`);
  return `<Tagging><TagSet>${tags.join("")}</TagSet></Tagging>`;
}

async function tagsOf({ request }: VersionedScene, path: string, query = ""): Promise<string[][]> {
  const { status, text } = await request("GET", path, { query: `tagging${query}` });
  assert.equal(status, 200, text);
  const values = texts(text, "Value");
  return texts(text, "Key").map((key, i) => [key, values[i]!]);
}

test("tags of an object are put, read, counted, replaced and deleted, for each version", async (t) => {
  const scene = await versionedScene(t);
  const { request, put } = scene;
  const first = await put("a", "one");
  assert.deepEqual(await tagsOf(scene, "a"), []);
  const set = (pairs: Pairs, query = "") =>
    request("PUT", "a", { query: `tagging${query}`, body: tagging(pairs) });
  const stored = await set([
    ["z", "1"],
    ["a b", "ü/=+-@:._"],
  ]);
  assert.deepEqual([stored.status, stored.headers["x-amz-version-id"]], [200, first]);
  assert.deepEqual(await tagsOf(scene, "a"), [
    ["a b", "ü/=+-@:._"],
    ["z", "1"],
  ]);
  for (const method of ["GET", "HEAD"])
    assert.equal((await request(method, "a")).headers["x-amz-tagging-count"], "2");
  const second = await put("a", "two", { "x-amz-tagging": "k=v&only&sp%20ace=x+y" });
  const expected = [
    ["k", "v"],
    ["only", ""],
    ["sp ace", "x y"],
  ];
  assert.deepEqual(await tagsOf(scene, "a"), expected);
  assert.equal((await tagsOf(scene, "a", `&versionId=${first}`)).length, 2);
  assert.equal((await set([["k", "changed"]], `&versionId=${first}`)).status, 200);
  assert.deepEqual(await tagsOf(scene, "a", `&versionId=${first}`), [["k", "changed"]]);
  assert.deepEqual(await tagsOf(scene, "a", `&versionId=${second}`), expected);
  const removed = await request("DELETE", "a", { query: "tagging" });
  assert.deepEqual([removed.status, removed.headers["x-amz-version-id"]], [204, second]);
  assert.deepEqual(await tagsOf(scene, "a"), []);
  assert.equal((await request("GET", "a")).headers["x-amz-tagging-count"], undefined);
  assertRefused(await request("GET", "none", { query: "tagging" }), [404, "NoSuchKey"]);
  const missing = await request("PUT", "none", { query: "tagging", body: tagging([["a", "b"]]) });
  assertRefused(missing, [404, "NoSuchKey"]);
});

test("tags beyond the limits of S3 are refused, and change nothing", async (t) => {
  const scene = await versionedScene(t, "plain");
  const { request, put } = scene;
  await put("a", "one", { "x-amz-tagging": "kept=1" });
  const many = (count: number) => Array.from({ length: count }, (_, i) => [`k${i}`, "v"] as const);
  const set = (body: string) => request("PUT", "a", { query: "tagging", body });
  for (const pairs of [
    many(11),
    [["k".repeat(129), "v"]],
    [["k", "v".repeat(257)]],
    [["", "v"]],
    [["k", "semi;colon"]],
    [["aws:k", "v"]],
    [
      ["k", "1"],
      ["k", "2"],
    ],
  ] as Pairs[]) {
    assertRefused(await set(tagging(pairs)), [400, "InvalidTag"]);
  }
  for (const body of ["<Tagging/>", "<Tagging><TagSet><Tag><Key>a</Key></Tag></TagSet></Tagging>", "x"]) {
    assertRefused(await set(body), [400, "MalformedXML"]);
  }
  const header = (value: string) => request("PUT", "b", { body: "x", headers: { "x-amz-tagging": value } });
  assertRefused(await header("k=1&k=2"), [400, "InvalidArgument"]);
  assertRefused(await header("k=%zz"), [400, "InvalidArgument"]);
  for (const nameless of ["=", "=1", "k=1&=2"])
    assertRefused(await header(nameless), [400, "InvalidArgument"]);
  assertRefused(
    await header(
      many(11)
        .map((pair) => pair.join("="))
        .join("&"),
    ),
    [400, "InvalidTag"],
  );
  assertRefused(await header(`k=1${"&".repeat(1000)}`), [400, "InvalidTag"]);
  assertRefused(await request("GET", "b"), [404, "NoSuchKey"]);
  assert.deepEqual(await tagsOf(scene, "a"), [["kept", "1"]]);
  assert.equal((await set(tagging(many(10)))).status, 200);
  assert.equal((await tagsOf(scene, "a")).length, 10);
});

test("a copy keeps the tags of its source or replaces them, and an upload and a form can set tags", async (t) => {
  const scene = await versionedScene(t, "plain");
  const { request, put, send, key } = scene;
  await put("a", "one", { "x-amz-tagging": "from=source" });
  const copy = (path: string, headers: Record<string, string> = {}) =>
    request("PUT", path, { headers: { "x-amz-copy-source": `/${bucket}/a`, ...headers } });
  assert.equal((await copy("kept")).status, 200);
  assert.deepEqual(await tagsOf(scene, "kept"), [["from", "source"]]);
  await copy("replaced", { "x-amz-tagging-directive": "REPLACE", "x-amz-tagging": "from=copy" });
  assert.deepEqual(await tagsOf(scene, "replaced"), [["from", "copy"]]);
  await copy("removed", { "x-amz-tagging-directive": "REPLACE" });
  assert.deepEqual(await tagsOf(scene, "removed"), []);
  assertRefused(await copy("odd", { "x-amz-tagging-directive": "odd" }), [400, "InvalidArgument"]);

  const created = await request("POST", "m", { query: "uploads", headers: { "x-amz-tagging": "by=upload" } });
  const [upload] = texts(created.text, "UploadId");
  const part = await request("PUT", "m", { query: `partNumber=1&uploadId=${upload}`, body: "part" });
  const body = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${part.headers.etag}</ETag></Part></CompleteMultipartUpload>`;
  assert.equal((await request("POST", "m", { query: `uploadId=${upload}`, body })).status, 200);
  assert.deepEqual(await tagsOf(scene, "m"), [["by", "upload"]]);

  const post = (document: string) => {
    const conditions = [["starts-with", "$key", ""], { tagging: document }, { "x-amz-meta-tag": "one" }];
    const fields = [...signedFields({ key, bucket, conditions }), ["tagging", document] as const];
    const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
    return send({ method: "POST", path: `/${bucket}`, headers, body: Buffer.from(encodeForm(fields)) });
  };
  const posted = await post(tagging([["by", "form"]]));
  assert.equal(posted.status, 204, posted.text);
  assert.deepEqual(await tagsOf(scene, "form/upload"), [["by", "form"]]);
  assertRefused(await post("<Tagging/>"), [400, "MalformedXML"]);
});

test("tags of a bucket are put, read and deleted by keys with the admin right", async (t) => {
  const { request, grant } = await versionedScene(t, "plain");
  const get = () => request("GET", "", { query: "tagging" });
  assertRefused(await get(), [404, "NoSuchTagSet"]);
  const body = tagging([["team", "a"]]);
  const writer = await grant(["read", "write", "list"]);
  assertRefused(await request("PUT", "", { query: "tagging", body, key: writer }), [403, "AccessDenied"]);
  assert.equal((await request("PUT", "", { query: "tagging", body })).status, 204);
  assert.match((await get()).text, /<TagSet><Tag><Key>team<\/Key><Value>a<\/Value><\/Tag><\/TagSet>/);
  const many = Array.from({ length: 51 }, (_, i) => [`k${i}`, "v"] as const);
  assertRefused(await request("PUT", "", { query: "tagging", body: tagging(many) }), [400, "InvalidTag"]);
  assert.equal((await request("DELETE", "", { query: "tagging" })).status, 204);
  assertRefused(await get(), [404, "NoSuchTagSet"]);
});
