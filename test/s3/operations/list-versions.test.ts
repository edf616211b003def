// ListObjectVersions: order, elements and pages.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRefused, texts, type VersionedScene, versionedScene } from "../versioned.ts";

async function list({ request }: VersionedScene, query = ""): Promise<string> {
  const answer = await request("GET", "", { query: `versions${query}` });
  assert.equal(answer.status, 200, answer.text);
  return answer.text;
}

/** Returns each version as kind, key, id and whether it is the latest. */
function entries(document: string): string[][] {
  const found = document.matchAll(/<(Version|DeleteMarker)>(.*?)<\/\1>/gs);
  return [...found].map(([, kind, inner]) => [
    kind!,
    ...["Key", "VersionId", "IsLatest"].map((name) => texts(inner!, name)[0]!),
  ]);
}

test("versions and delete markers are listed by key, the newest first, with all their elements", async (t) => {
  const scene = await versionedScene(t, "plain");
  const { request, put, setVersioning } = scene;
  await put("a", "null", { "x-amz-storage-class": "STANDARD_IA" });
  await setVersioning("Enabled");
  const second = await put("a", "second", { "x-amz-sdk-checksum-algorithm": "CRC32" });
  const marker = (await request("DELETE", "a")).headers["x-amz-version-id"]!;
  const other = await put("b", "other");
  const document = await list(scene);
  assert.deepEqual(entries(document), [
    ["DeleteMarker", "a", marker, "true"],
    ["Version", "a", second, "false"],
    ["Version", "a", "null", "false"],
    ["Version", "b", other, "true"],
  ]);
  assert.deepEqual(texts(document, "Size"), ["6", "4", "5"]);
  assert.deepEqual(texts(document, "StorageClass"), ["STANDARD", "STANDARD_IA", "STANDARD"]);
  assert.equal(texts(document, "ETag").length, 3);
  assert.deepEqual(texts(document, "ChecksumAlgorithm"), ["CRC32"]);
  assert.equal(texts(document, "LastModified").length, 4);
  assert.equal(texts(document, "DisplayName").length, 4);
  assert.deepEqual(texts(document, "IsTruncated"), ["false"]);
});

test("pages of versions continue within a key and skip groups, and together contain every version once", async (t) => {
  const scene = await versionedScene(t);
  const { put, request } = scene;
  for (const key of ["a", "folder/x", "folder/y", "z"])
    for (const body of ["1", "2", "3"]) await put(key, body);
  await request("DELETE", "z");
  const all = entries(await list(scene));
  assert.equal(all.length, 13);
  for (const size of [1, 2, 5]) {
    const found: string[][] = [];
    let after = "";
    for (;;) {
      const page = await list(scene, `&max-keys=${size}${after}`);
      found.push(...entries(page));
      if (texts(page, "IsTruncated")[0] === "false") break;
      const [key] = texts(page, "NextKeyMarker");
      const [id] = texts(page, "NextVersionIdMarker");
      after = `&key-marker=${encodeURIComponent(key!)}&version-id-marker=${id}`;
    }
    assert.deepEqual(found, all, `pages of ${size}`);
  }
  const grouped = await list(scene, "&delimiter=/&max-keys=4");
  assert.equal(entries(grouped).length, 3);
  assert.deepEqual(texts(grouped, "Prefix"), ["", "folder/"]);
  assert.deepEqual(texts(grouped, "NextKeyMarker"), ["folder/"]);
  assert.deepEqual(texts(grouped, "NextVersionIdMarker"), []);
  const rest = await list(scene, "&delimiter=/&key-marker=folder/");
  assert.deepEqual(
    entries(rest).map(([, key]) => key),
    ["z", "z", "z", "z"],
  );
  assert.equal(entries(await list(scene, "&prefix=folder/y")).length, 3);
  assert.equal(entries(await list(scene, "&key-marker=a")).length, 10);
  assert.equal(entries(await list(scene, "&max-keys=0")).length, 0);
});

test("a listing resumes after the null version, and encodes keys on request", async (t) => {
  const scene = await versionedScene(t, "plain");
  await scene.put("k%20%C3%BC", "null");
  await scene.setVersioning("Enabled");
  const newest = await scene.put("k%20%C3%BC", "newest");
  const first = await list(scene, "&max-keys=1&encoding-type=url");
  assert.deepEqual(texts(first, "NextKeyMarker"), ["k%20%C3%BC"]);
  assert.deepEqual(texts(first, "NextVersionIdMarker"), [newest]);
  const after = `&key-marker=${encodeURIComponent("k ü")}`;
  const second = await list(scene, `${after}&version-id-marker=${newest}&max-keys=1`);
  assert.deepEqual(entries(second), [["Version", "k ü", "null", "false"]]);
  assert.deepEqual(entries(await list(scene, `${after}&version-id-marker=null`)), []);
});

test("an invalid version-id-marker is refused, and so is one without a key-marker", async (t) => {
  const { request } = await versionedScene(t);
  for (const query of ["version-id-marker=null", "key-marker=a&version-id-marker=odd", "encoding-type=odd"]) {
    assertRefused(await request("GET", "", { query: `versions&${query}` }), [400, "InvalidArgument"]);
  }
  assert.equal((await request("GET", "", { query: "versions&version-id-marker=" })).status, 200);
});
