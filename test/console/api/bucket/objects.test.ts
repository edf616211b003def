// Search, copies, moves and emptying of buckets in the console's API.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { CopiedDocument, EmptiedDocument, SearchDocument } from "../../../../src/console/wire-bucket.ts";
import { type ApiScene, apiScene } from "../scene.ts";

async function fill({ engine }: ApiScene, keys: readonly string[]): Promise<void> {
  for (const key of keys) await engine.put("bucket", key, Buffer.from(key));
}

const keysOf = async ({ engine }: ApiScene, bucket = "bucket") =>
  (await engine.list(bucket)).objects.map(({ key }) => key);

test("a search finds a text in any part of a key, in upper and lower case, below a folder", async (t) => {
  const scene = await apiScene(t);
  await fill(scene, ["2026/Garden/Rose.jpg", "2026/list.txt", "rose.txt", "tulip.txt"]);
  const search = async (query: Record<string, string>) =>
    scene.get<SearchDocument>("GET /api/objects/search", { query: { bucket: "bucket", ...query } });
  const all = await search({ text: "ROSE" });
  assert.deepEqual(
    all.objects.map(({ key }) => key),
    ["2026/Garden/Rose.jpg", "rose.txt"],
  );
  assert.deepEqual([all.scanned, all.cursor], [4, undefined]);
  assert.equal((await search({ text: "rose", prefix: "2026/" })).objects.length, 1);
  assert.equal((await search({ text: "absent" })).objects.length, 0);
  await scene.refused(400, "GET /api/objects/search", { query: { bucket: "bucket", text: "" } });
});

test("a search of many keys returns pages with a cursor, and finds each key once", async (t) => {
  const scene = await apiScene(t);
  const keys = Array.from({ length: 2500 }, (_, i) => `object-${String(i).padStart(5, "0")}`);
  await fill(scene, keys);
  const found: string[] = [];
  let cursor: string | undefined;
  let requests = 0;
  do {
    const query = { bucket: "bucket", text: "object", ...(cursor === undefined ? {} : { cursor }) };
    const page = await scene.get<SearchDocument>("GET /api/objects/search", { query });
    found.push(...page.objects.map(({ key }) => key));
    cursor = page.cursor;
    requests++;
  } while (cursor !== undefined);
  assert.deepEqual(found, keys);
  assert.equal(requests, 13, "a page ends when it has enough hits");
});

test("a move keeps bytes, metadata and tags, and removes the source", async (t) => {
  const scene = await apiScene(t);
  const { engine, get } = scene;
  await engine.put("bucket", "a.txt", Buffer.from("text"), {
    ...{ httpMetadata: { contentType: "text/plain" }, customMetadata: new Map([["a", "b"]]) },
    tags: new Map([["team", "web"]]),
  });
  const names = [{ from: "a.txt", to: "docs/b.txt" }];
  const moved = await get<CopiedDocument>("POST /api/objects/copy", {
    json: { bucket: "bucket", names, isMove: true },
  });
  assert.deepEqual([moved.copied, moved.bytes, moved.skipped], [1, 4, []]);
  assert.deepEqual(await keysOf(scene), ["docs/b.txt"]);
  const record = await engine.head("bucket", "docs/b.txt");
  assert.equal(record?.httpMetadata.contentType, "text/plain");
  assert.deepEqual([...record!.customMetadata], [["a", "b"]]);
  assert.deepEqual([...record!.tags!], [["team", "web"]]);
  assert.deepEqual(scene.audited, ["delete objects bucket"]);
});

test("a copy does not replace an existing object unless asked, and reports it", async (t) => {
  const scene = await apiScene(t);
  await fill(scene, ["a", "b"]);
  const json = { bucket: "bucket", names: [{ from: "a", to: "b" }], isMove: true };
  const first = await scene.get<CopiedDocument>("POST /api/objects/copy", { json });
  assert.equal(first.copied, 0);
  assert.match(first.skipped[0]!.message, /already exists/);
  assert.deepEqual(await keysOf(scene), ["a", "b"], "nothing was moved");
  const again = await scene.get<CopiedDocument>("POST /api/objects/copy", {
    json: { ...json, isReplaced: true },
  });
  assert.equal(again.copied, 1);
  assert.deepEqual(await keysOf(scene), ["b"]);
});

test("a folder is moved in batches to another bucket, but not into itself", async (t) => {
  const scene = await apiScene(t);
  await scene.engine.createBucket("other");
  const keys = Array.from({ length: 150 }, (_, i) => `from/${String(i).padStart(3, "0")}`);
  await fill(scene, keys);
  await scene.refused(400, "POST /api/objects/copy", {
    json: { bucket: "bucket", prefix: "from/", to: "from/deep/" },
  });
  let cursor: string | undefined;
  let batches = 0;
  do {
    const json = { bucket: "bucket", target: "other", prefix: "from/", to: "to/", isMove: true, cursor };
    const page = await scene.get<CopiedDocument>("POST /api/objects/copy", { json });
    cursor = page.cursor;
    batches++;
  } while (cursor !== undefined);
  assert.equal(batches, 2);
  assert.deepEqual(await keysOf(scene), []);
  assert.deepEqual(
    await keysOf(scene, "other"),
    keys.map((key) => key.replace("from/", "to/")),
  );
});

test("a locked object cannot be moved, and no copy is made", async (t) => {
  const scene = await apiScene(t);
  await fill(scene, ["a"]);
  const lockRules = [{ id: "keep", isEnabled: true, prefix: "", condition: { kind: "indefinite" } }] as const;
  await scene.engine.changeSettings("bucket", { lockRules });
  const json = { bucket: "bucket", names: [{ from: "a", to: "b" }], isMove: true };
  const { copied, skipped } = await scene.get<CopiedDocument>("POST /api/objects/copy", { json });
  assert.equal(copied, 0);
  assert.match(skipped[0]!.message, /lock/i);
  assert.deepEqual(await keysOf(scene), ["a"]);
});

test("a copy to a bucket without the role of an editor there is refused", async (t) => {
  const scene = await apiScene(t);
  await scene.engine.createBucket("other");
  await fill(scene, ["a"]);
  const editor = await scene.signIn({ buckets: { bucket: "editor", other: "viewer" } });
  const json = { bucket: "bucket", target: "other", names: [{ from: "a", to: "a" }] };
  assert.match(
    await editor.refused(403, "POST /api/objects/copy", { json }),
    /editor for the bucket "other"/,
  );
  assert.deepEqual(await keysOf(scene, "other"), []);
});

test("a versioned bucket is emptied with all versions, and then deleted", async (t) => {
  const scene = await apiScene(t);
  await scene.engine.changeSettings("bucket", { versioning: "on" });
  await fill(scene, ["a", "a", "b"]);
  await scene.engine.delete("bucket", ["b"]);
  await scene.refused(409, "DELETE /api/buckets", { query: { bucket: "bucket" } });
  const json = { bucket: "bucket" };
  const emptied = await scene.get<EmptiedDocument>("POST /api/buckets/empty", { json });
  assert.deepEqual([emptied.deleted, emptied.lockedCount], [4, 0]);
  await scene.get("DELETE /api/buckets", { query: { bucket: "bucket" } });
  assert.equal(await scene.engine.bucket("bucket"), undefined);
  assert.deepEqual(scene.audited, ["delete objects bucket", "delete bucket bucket"]);
});

test("the check before emptying names locked versions and deletes nothing", async (t) => {
  const scene = await apiScene(t);
  await fill(scene, ["a", "b"]);
  const lockRules = [
    { id: "keep", isEnabled: true, prefix: "a", condition: { kind: "indefinite" } },
  ] as const;
  await scene.engine.changeSettings("bucket", { lockRules });
  const json = { bucket: "bucket", isCheck: true };
  const checked = await scene.get<EmptiedDocument>("POST /api/buckets/empty", { json });
  assert.deepEqual([checked.deleted, checked.lockedCount, checked.locked[0]?.key], [0, 1, "a"]);
  assert.deepEqual(await keysOf(scene), ["a", "b"]);
});
