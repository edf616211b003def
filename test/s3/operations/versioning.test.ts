// Versions over S3: reads, writes and deletes of versions, and the headers of their responses.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRefused, bucket, texts, versionedScene } from "../versioned.ts";

const versionHeader = "x-amz-version-id";
const unknown = "0".repeat(32);

test("PutBucketVersioning turns versioning on and suspends it, and GetBucketVersioning returns the state", async (t) => {
  const { request, setVersioning } = await versionedScene(t, "plain");
  const state = async () => texts((await request("GET", "", { query: "versioning" })).text, "Status");
  assert.deepEqual(await state(), []);
  await setVersioning("Enabled");
  assert.deepEqual(await state(), ["Enabled"]);
  await setVersioning("Suspended");
  assert.deepEqual(await state(), ["Suspended"]);
  const put = (body: string) =>
    request("PUT", "", {
      query: "versioning",
      body: `<VersioningConfiguration>${body}</VersioningConfiguration>`,
    });
  assertRefused(await put(""), [400, "IllegalVersioningConfigurationException"]);
  assertRefused(await put("<Status>enabled</Status>"), [400, "MalformedXML"]);
  assertRefused(await put("<Status>Enabled</Status><MfaDelete>Enabled</MfaDelete>"), [501, "NotImplemented"]);
  assert.deepEqual(await state(), ["Suspended"]);
  assert.equal((await put("<Status>Enabled</Status><MfaDelete>Disabled</MfaDelete>")).status, 200);
  assert.deepEqual(await state(), ["Enabled"]);
});

test("a bucket that was never versioned returns no version ids, and its objects are the version null", async (t) => {
  const { request, put } = await versionedScene(t, "plain");
  assert.equal(await put("a", "one"), undefined);
  for (const query of ["", "versionId=null"]) {
    const read = await request("GET", "a", { query });
    assert.deepEqual([read.status, read.text, read.headers[versionHeader]], [200, "one", undefined]);
  }
  assertRefused(await request("GET", "a", { query: `versionId=${unknown}` }), [404, "NoSuchVersion"]);
  const missed = await request("DELETE", "a", { query: `versionId=${unknown}` });
  assert.deepEqual([missed.status, missed.headers[versionHeader]], [204, undefined]);
  const deleted = await request("DELETE", "a", { query: "versionId=null" });
  assert.deepEqual([deleted.status, deleted.headers[versionHeader]], [204, undefined]);
  const missing = await request("GET", "a");
  assertRefused(missing, [404, "NoSuchKey"]);
  assert.equal(missing.headers["x-amz-delete-marker"], undefined);
});

test("each put adds a version that can be read, described and deleted by its id", async (t) => {
  const { request, put, setVersioning } = await versionedScene(t, "plain");
  await put("a", "before");
  await setVersioning("Enabled");
  const first = await put("a", "one");
  const second = await put("a", "two!");
  assert.match(first ?? "", /^[0-9a-f]{32}$/);
  assert.notEqual(first, second);
  for (const [query, text, id] of [
    ["", "two!", second],
    [`versionId=${second}`, "two!", second],
    [`versionId=${first}`, "one", first],
    ["versionId=null", "before", "null"],
  ] as const) {
    const read = await request("GET", "a", { query });
    assert.deepEqual([read.status, read.text, read.headers[versionHeader]], [200, text, id]);
    const head = await request("HEAD", "a", { query });
    assert.deepEqual(
      [head.status, head.headers["content-length"], head.headers[versionHeader]],
      [200, String(text.length), id],
    );
    const attributes = await request("GET", "a", {
      query: `attributes&${query}`.replace(/&$/, ""),
      headers: { "x-amz-object-attributes": "ObjectSize" },
    });
    assert.deepEqual(texts(attributes.text, "ObjectSize"), [String(text.length)]);
    assert.equal(attributes.headers[versionHeader], id);
  }
  const deleted = await request("DELETE", "a", { query: `versionId=${second}` });
  assert.deepEqual([deleted.status, deleted.headers[versionHeader]], [204, second]);
  assert.equal(deleted.headers["x-amz-delete-marker"], undefined);
  assert.equal((await request("GET", "a")).text, "one");
  const again = await request("DELETE", "a", { query: `versionId=${second}` });
  assert.deepEqual([again.status, again.headers[versionHeader]], [204, second]);
});

test("a delete hides the object by a delete marker, which is refused with 405 when it is named", async (t) => {
  const { request, put } = await versionedScene(t);
  const version = await put("a", "one");
  const deleted = await request("DELETE", "a");
  const marker = deleted.headers[versionHeader]!;
  assert.deepEqual([deleted.status, deleted.headers["x-amz-delete-marker"]], [204, "true"]);
  for (const method of ["GET", "HEAD"]) {
    const hidden = await request(method, "a");
    assertRefused(hidden, [404, "NoSuchKey"]);
    assert.deepEqual(
      [hidden.headers["x-amz-delete-marker"], hidden.headers[versionHeader]],
      ["true", marker],
    );
    const named = await request(method, "a", { query: `versionId=${marker}` });
    assertRefused(named, [405, "MethodNotAllowed"]);
    assert.deepEqual([named.headers["x-amz-delete-marker"], named.headers.allow], ["true", "DELETE"]);
    assert.ok(Date.parse(named.headers["last-modified"]!) > 0);
  }
  for (const query of ["tagging", "acl"]) {
    assertRefused(await request("GET", "a", { query: `${query}&versionId=${marker}` }), [
      405,
      "MethodNotAllowed",
    ]);
    assertRefused(await request("GET", "a", { query }), [404, "NoSuchKey"]);
  }
  assert.equal((await request("GET", "a", { query: `versionId=${version}` })).text, "one");
  const removed = await request("DELETE", "a", { query: `versionId=${marker}` });
  assert.deepEqual(
    [removed.status, removed.headers["x-amz-delete-marker"], removed.headers[versionHeader]],
    [204, "true", marker],
  );
  assert.equal((await request("GET", "a")).text, "one");
});

test("with versioning suspended, puts and deletes replace the null version only", async (t) => {
  const { request, put, setVersioning } = await versionedScene(t);
  const version = await put("a", "kept");
  await setVersioning("Suspended");
  assert.equal(await put("a", "null one"), undefined);
  assert.equal(await put("a", "null two"), undefined);
  const read = await request("GET", "a");
  assert.deepEqual([read.text, read.headers[versionHeader]], ["null two", "null"]);
  const deleted = await request("DELETE", "a");
  assert.deepEqual(
    [deleted.headers["x-amz-delete-marker"], deleted.headers[versionHeader]],
    ["true", "null"],
  );
  const listed = await request("GET", "", { query: "versions" });
  assert.deepEqual(texts(listed.text, "VersionId"), ["null", version]);
});

test("version ids that cannot exist are refused, and unknown ones do not exist", async (t) => {
  const { request, put } = await versionedScene(t);
  await put("a", "one");
  for (const [id, message] of [
    ["", "Version id cannot be the empty string"],
    ["abc", "Invalid version id specified"],
    ["NULL", "Invalid version id specified"],
    [unknown.slice(1), "Invalid version id specified"],
  ] as const) {
    for (const method of ["GET", "HEAD", "DELETE"]) {
      const answer = await request(method, "a", { query: `versionId=${id}` });
      assertRefused(answer, [400, "InvalidArgument"]);
      assert.deepEqual(texts(answer.text, "Message"), [message]);
    }
  }
  for (const query of ["", "tagging&", "acl&"]) {
    const answer = await request("GET", "a", { query: `${query}versionId=${unknown}` });
    assertRefused(answer, [404, "NoSuchVersion"]);
  }
  assertRefused(await request("PUT", "a", { query: "versionId=null", body: "x" }), [400, "InvalidArgument"]);
});

test("copies read the named version of their source and return both version ids", async (t) => {
  const { request, put } = await versionedScene(t);
  const first = await put("a", "one");
  const second = await put("a", "two");
  const marker = (await request("DELETE", "gone")).headers[versionHeader];
  const copy = (path: string, source: string, query = "") =>
    request("PUT", path, { query, headers: { "x-amz-copy-source": `/${bucket}/${source}` } });
  const copied = await copy("b", `a?versionId=${first}`);
  assert.equal(copied.headers["x-amz-copy-source-version-id"], first);
  assert.match(copied.headers[versionHeader] ?? "", /^[0-9a-f]{32}$/);
  assert.equal((await request("GET", "b")).text, "one");
  assert.equal((await copy("c", "a")).headers["x-amz-copy-source-version-id"], second);
  // A copy of an older version to its own key restores it; the current version needs a change.
  assertRefused(await copy("a", "a"), [400, "InvalidRequest"]);
  assert.equal((await copy("a", `a?versionId=${first}`)).status, 200);
  assert.equal((await request("GET", "a")).text, "one");
  assertRefused(await copy("d", `a?versionId=${unknown}`), [404, "NoSuchVersion"]);
  assertRefused(await copy("d", "a?versionId=odd"), [400, "InvalidArgument"]);
  assertRefused(await copy("d", `gone?versionId=${marker}`), [400, "InvalidRequest"]);
  assertRefused(await copy("d", "gone"), [404, "NoSuchKey"]);

  const created = await request("POST", "m", { query: "uploads" });
  const [upload] = texts(created.text, "UploadId");
  const part = await copy("m", `a?versionId=${second}`, `partNumber=1&uploadId=${upload}`);
  assert.equal(part.headers["x-amz-copy-source-version-id"], second);
  const etag = /<ETag>&quot;(\w+)/.exec(part.text)![1];
  const body = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${etag}</ETag></Part></CompleteMultipartUpload>`;
  const complete = () => request("POST", "m", { query: `uploadId=${upload}`, body });
  const completed = await complete();
  assert.match(completed.headers[versionHeader] ?? "", /^[0-9a-f]{32}$/);
  await put("m", "newer");
  const repeated = await complete();
  assert.equal(repeated.headers[versionHeader], completed.headers[versionHeader]);
  const read = await request("GET", "m", { query: `versionId=${completed.headers[versionHeader]}` });
  assert.equal(read.text, "two");
});

test("DeleteObjects writes delete markers, deletes named versions and reports each of them", async (t) => {
  const { request, put } = await versionedScene(t);
  const first = await put("a", "one");
  const second = await put("a", "two");
  await put("b", "one");
  const send = (objects: string, quiet = "") =>
    request("POST", "", { query: "delete", body: `<Delete>${quiet}${objects}</Delete>` });
  const object = (key: string, version?: string) =>
    `<Object><Key>${key}</Key>${version === undefined ? "" : `<VersionId>${version}</VersionId>`}</Object>`;
  const { text } = await send(object("a", first) + object("b") + object("a", "odd") + object("a", unknown));
  const marker = (await request("GET", "b")).headers[versionHeader];
  assert.equal(
    text.replace(/^.*?<DeleteResult[^>]*>/s, ""),
    `<Deleted><Key>a</Key><VersionId>${first}</VersionId></Deleted>` +
      `<Deleted><Key>b</Key><DeleteMarker>true</DeleteMarker><DeleteMarkerVersionId>${marker}</DeleteMarkerVersionId></Deleted>` +
      "<Error><Key>a</Key><VersionId>odd</VersionId><Code>NoSuchVersion</Code><Message>The specified version does not exist.</Message></Error>" +
      `<Deleted><Key>a</Key><VersionId>${unknown}</VersionId></Deleted></DeleteResult>`,
  );
  const removed = await send(object("b", marker));
  assert.match(
    removed.text,
    new RegExp(
      `<VersionId>${marker}</VersionId><DeleteMarker>true</DeleteMarker><DeleteMarkerVersionId>${marker}<`,
    ),
  );
  assert.equal((await request("GET", "b")).text, "one");
  assert.match((await send(object("a", second), "<Quiet>true</Quiet>")).text, /<DeleteResult[^>]*\/>$/);
  assertRefused(await request("GET", "a"), [404, "NoSuchKey"]);
});

test("a delete of a version under a condition removes it only if that version meets the condition", async (t) => {
  const { request, put } = await versionedScene(t);
  const first = await put("a", "one");
  await put("a", "two!");
  const query = `versionId=${first}`;
  const remove = (headers: Record<string, string>) => request("DELETE", "a", { query, headers });
  assertRefused(await remove({ "if-match": '"other"' }), [412, "PreconditionFailed"]);
  assertRefused(await remove({ "x-amz-if-match-size": "4" }), [412, "PreconditionFailed"]);
  assert.equal((await request("GET", "a", { query })).text, "one");
  const element = `<Object><Key>a</Key><VersionId>${first}</VersionId><Size>4</Size></Object>`;
  const many = await request("POST", "", { query: "delete", body: `<Delete>${element}</Delete>` });
  assert.deepEqual(texts(many.text, "Code"), ["PreconditionFailed"]);
  assert.equal((await remove({ "x-amz-if-match-size": "3" })).status, 204);
  assertRefused(await request("GET", "a", { query }), [404, "NoSuchVersion"]);
  assert.equal((await remove({ "x-amz-if-match-size": "4" })).status, 204);
});
