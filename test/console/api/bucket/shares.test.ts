// Share links: they work without a session, and end when they expire, are revoked or lose their bucket.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { NewShareDocument, SharesDocument } from "../../../../src/console/wire-bucket.ts";
import { type ApiScene, apiScene } from "../scene.ts";

const share = (scene: Pick<ApiScene, "get">, key: string, seconds = 3600) =>
  scene.get<NewShareDocument>("POST /api/shares", { json: { bucket: "bucket", key, seconds } });

test("a share link downloads its object without a session, with its name and a sandbox", async (t) => {
  const scene = await apiScene(t);
  await scene.engine.put("bucket", "docs/note.html", Buffer.from("<script>alert(1)</script>"), {
    httpMetadata: { contentType: "text/html" },
  });
  const { url, id } = await share(scene, "docs/note.html");
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/share\/[\w-]{43}\/note\.html$/);
  assert.ok(!url.includes(id), "the listed id is not the secret");
  const response = await fetch(url, { headers: { "sec-fetch-site": "cross-site" } });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "application/octet-stream");
  assert.match(response.headers.get("content-disposition")!, /^attachment; filename\*=UTF-8''note\.html$/);
  assert.match(response.headers.get("content-security-policy")!, /^sandbox;/);
  assert.equal(response.headers.get("x-content-type-options"), "nosniff");
  assert.equal(await response.text(), "<script>alert(1)</script>");
  const part = await fetch(url, { headers: { range: "bytes=0-6" } });
  assert.deepEqual([part.status, await part.text()], [206, "<script"]);
});

test("a revoked link answers 404, and creation and revocation are audited without the secret", async (t) => {
  const scene = await apiScene(t);
  await scene.engine.put("bucket", "a", Buffer.from("a"));
  const { url, id } = await share(scene, "a");
  const list = () => scene.get<SharesDocument>("GET /api/shares", { query: { bucket: "bucket" } });
  const [listed] = (await list()).shares;
  assert.deepEqual([listed?.id, listed?.key, listed?.by], [id, "a", "store dev"]);
  await scene.get("DELETE /api/shares", { query: { bucket: "bucket", id } });
  assert.equal((await fetch(url)).status, 404);
  assert.deepEqual((await list()).shares, []);
  await scene.refused(404, "DELETE /api/shares", { query: { bucket: "bucket", id } });
  assert.deepEqual(scene.audited, ["create share link bucket", "revoke share link bucket"]);
});

test("a link of a deleted bucket does not share a new bucket of the same name", async (t) => {
  const scene = await apiScene(t);
  await scene.engine.put("bucket", "a", Buffer.from("old"));
  const { url } = await share(scene, "a");
  await scene.engine.delete("bucket", ["a"]);
  assert.equal((await fetch(url)).status, 404);
  await scene.engine.deleteBucket("bucket");
  // The creation time has milliseconds.
  await new Promise((resolve) => setTimeout(resolve, 2));
  await scene.engine.createBucket("bucket");
  await scene.engine.put("bucket", "a", Buffer.from("new"));
  assert.equal((await fetch(url)).status, 404);
});

test("links that do not exist, and wrong lifetimes and keys, are refused", async (t) => {
  const scene = await apiScene(t);
  await scene.engine.put("bucket", "a", Buffer.from("a"));
  for (const path of ["/share/", `/share/${"a".repeat(43)}`, "/share/../api/keys", "/share/%00"])
    assert.notEqual((await fetch(scene.url + path)).status, 200, path);
  for (const seconds of [0, 1.5, -1, 367 * 86_400])
    await scene.refused(400, "POST /api/shares", { json: { bucket: "bucket", key: "a", seconds } });
  await scene.refused(404, "POST /api/shares", { json: { bucket: "bucket", key: "missing", seconds: 60 } });
  const viewer = await scene.signIn({ role: "viewer" });
  await viewer.refused(403, "POST /api/shares", { json: { bucket: "bucket", key: "a", seconds: 60 } });
});
