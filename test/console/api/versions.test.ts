// The console's API for versions, deleted objects, tags, and the state of a bucket at a time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import type {
  DeletedDocument,
  DeletedObjectsDocument,
  ObjectDocument,
  ObjectsDocument,
  RestoredDocument,
  VersionsDocument,
} from "../../../src/console/wire-types.ts";
import { type ApiScene, apiScene } from "./scene.ts";

const bucket = "bucket";

async function versionedScene(t: Parameters<typeof apiScene>[0]) {
  const scene = await apiScene(t);
  await scene.engine.changeSettings(bucket, { versioning: "on" });
  const put = async (key: string, text: string) => {
    const outcome = await scene.engine.put(bucket, key, Buffer.from(text));
    assert.ok(outcome.outcome === "stored");
    return outcome.record;
  };
  return { ...scene, put };
}

const versionsOf = ({ get }: ApiScene, key: string) =>
  get<VersionsDocument>("GET /api/versions", { query: { bucket, key } });

/** Returns a time after all writes so far and before all later ones. */
async function pause(): Promise<number> {
  await setTimeout(3);
  const time = Date.now();
  await setTimeout(3);
  return time;
}

test("the versions of an object are listed without those of longer keys", async (t) => {
  const scene = await versionedScene(t);
  const first = await scene.put("a", "one");
  await scene.put("a", "second");
  await scene.put("a/b", "other");
  await scene.engine.delete(bucket, ["a"]);
  const { versions, versioning } = await versionsOf(scene, "a");
  assert.equal(versioning, "on");
  assert.deepEqual(
    versions.map(({ size, isCurrent, isDeleteMarker }) => [size, isCurrent, isDeleteMarker]),
    [
      [undefined, true, true],
      [6, false, false],
      [3, false, false],
    ],
  );
  const query = { bucket, key: "a", version: first.version };
  assert.deepEqual(await scene.ask("GET /api/content", { query }), { status: 200, text: "one" });
  await scene.refused(404, "GET /api/content", { query: { ...query, version: "0".repeat(32) } });
});

test("the newest version is searched behind a bounded number of delete markers", async (t) => {
  const scene = await versionedScene(t);
  const first = await scene.put("a", "one");
  const restore = { json: { bucket, key: "a" } };
  for (let i = 0; i < 1999; i++) await scene.engine.delete(bucket, ["a"]);
  await scene.get("POST /api/versions/restore", restore);
  for (let i = 0; i < 2000; i++) await scene.engine.delete(bucket, ["a"]);
  const message = await scene.refused(409, "POST /api/versions/restore", restore);
  assert.match(message, /was deleted 2000 times or more/);
  await scene.get("POST /api/versions/restore", { json: { ...restore.json, version: first.version } });
});

test("a long history is listed by pages", async (t) => {
  const scene = await versionedScene(t);
  for (let i = 0; i < 130; i++) await scene.put("a", String(i));
  const first = await versionsOf(scene, "a");
  assert.equal(first.versions.length, 100);
  const query = { bucket, key: "a", cursor: first.cursor! };
  const second = await scene.get<VersionsDocument>("GET /api/versions", { query });
  assert.deepEqual([second.versions.length, second.cursor], [30, undefined]);
  for (const cursor of ["x", "[]", '["other",""]', '["key",1]']) {
    await scene.refused(400, "GET /api/versions", { query: { ...query, cursor } });
  }
});

test("a version is restored by its id, and a deleted object by its newest version", async (t) => {
  const scene = await versionedScene(t);
  const first = await scene.put("a", "one");
  await scene.put("a", "second");
  const json = { bucket, key: "a" };
  await scene.get("POST /api/versions/restore", { json: { ...json, version: first.version } });
  const content = () => scene.ask("GET /api/content", { query: json });
  assert.equal((await content()).text, "one");
  await scene.engine.delete(bucket, ["a"]);
  assert.equal((await content()).status, 404);
  await scene.get("POST /api/versions/restore", { json });
  assert.equal((await content()).text, "one");
  await scene.refused(404, "POST /api/versions/restore", { json: { bucket, key: "missing" } });
  await scene.refused(400, "POST /api/versions/restore", { json: { ...json, version: 1 } });
});

test("a version is deleted for good, unless it is locked", async (t) => {
  const scene = await versionedScene(t);
  const { version } = await scene.put("a", "one");
  await scene.put("a", "two");
  const json = { bucket, key: "a", version };
  const rule = { id: "keep", isEnabled: true, prefix: "", condition: { kind: "indefinite" } } as const;
  await scene.engine.changeSettings(bucket, { lockRules: [rule] });
  const message = 'The object is locked by the bucket\'s lock rule "keep" until it is removed.';
  assert.equal(await scene.refused(403, "POST /api/versions/delete", { json }), message);
  const { versions } = await versionsOf(scene, "a");
  assert.deepEqual(versions[1]?.lock, { message, until: null });
  const listed = await scene.get<ObjectsDocument>("GET /api/objects", { query: { bucket } });
  assert.deepEqual(listed.objects[0]?.lock, { message, until: null });
  await scene.engine.changeSettings(bucket, { lockRules: undefined });
  assert.equal((await scene.ask("POST /api/versions/delete", { json })).status, 204);
  assert.equal((await versionsOf(scene, "a")).versions.length, 1);
  await scene.refused(404, "POST /api/versions/delete", { json });
});

test("a delete in a versioned bucket reports its markers, and the deleted objects are listed", async (t) => {
  const scene = await versionedScene(t);
  for (const key of ["a", "b", "f/c", "g/d"]) await scene.put(key, key);
  const remove = (json: unknown) => scene.get<DeletedDocument>("POST /api/objects/delete", { json });
  assert.deepEqual(await remove({ bucket, keys: ["a"] }), { deleted: 1, markers: 1, isMore: false });
  assert.deepEqual(await remove({ bucket, prefix: "f/" }), { deleted: 1, markers: 1, isMore: false });
  const list = async (query: Record<string, string>) => {
    const page = await scene.get<DeletedObjectsDocument>("GET /api/objects/deleted", {
      query: { bucket, ...query },
    });
    return [page.prefixes, page.objects.map(({ key }) => key), page.cursor];
  };
  assert.deepEqual(await list({}), [[], ["a", "f/c"], undefined]);
  assert.deepEqual(await list({ delimiter: "/" }), [["f/", "g/"], ["a"], undefined]);
  assert.deepEqual(await list({ delimiter: "/", prefix: "f/" }), [[], ["f/c"], undefined]);
  await scene.engine.createBucket("plain");
  await scene.engine.put("plain", "a", Buffer.from("a"));
  const plain = await remove({ bucket: "plain", keys: ["a"] });
  assert.deepEqual(plain, { deleted: 1, markers: 0, isMore: false });
});

test("a bucket is listed and read as of a time", async (t) => {
  const scene = await versionedScene(t);
  await scene.put("a", "one");
  await scene.put("gone", "gone");
  const at = await pause();
  await scene.put("a", "second");
  await scene.put("new", "new");
  await scene.engine.delete(bucket, ["gone"]);
  const page = await scene.get<ObjectsDocument>("GET /api/objects", { query: { bucket, at } });
  assert.deepEqual(
    page.objects.map(({ key, size }) => [key, size]),
    [
      ["a", 3],
      ["gone", 4],
    ],
  );
  const query = { bucket, key: "gone", at };
  assert.equal((await scene.get<ObjectDocument>("GET /api/object", { query })).size, 4);
  assert.equal((await scene.ask("GET /api/content", { query })).text, "gone");
  await scene.refused(404, "GET /api/object", { query: { ...query, key: "new" } });
  for (const wrong of ["soon", "-1", "1.5", "9".repeat(20)]) {
    await scene.refused(400, "GET /api/objects", { query: { bucket, at: wrong } });
  }
});

test("a folder is restored to a time after a dry run that changes nothing", async (t) => {
  const scene = await versionedScene(t);
  for (const key of ["f/a", "f/same", "other"]) await scene.put(key, "one");
  const time = await pause();
  for (const key of ["f/a", "f/new", "other"]) await scene.put(key, "two");
  const json = { bucket, prefix: "f/", time };
  const counts = { restored: 1, deleted: 1, unchanged: 1 };
  const run = (more: object) =>
    scene.get<RestoredDocument>("POST /api/objects/restore", { json: { ...json, ...more } });
  assert.deepEqual(await run({ isDryRun: true }), counts);
  assert.deepEqual(scene.audited, []);
  const content = async (key: string) =>
    (await scene.ask("GET /api/content", { query: { bucket, key } })).text;
  assert.equal(await content("f/a"), "two");
  assert.deepEqual(await run({}), counts);
  assert.deepEqual(scene.audited, ["restore bucket bucket"]);
  assert.deepEqual([await content("f/a"), await content("other")], ["one", "two"]);
  for (const wrong of [{ time: "1" }, { time: -1 }, { time: 1.5 }, { isDryRun: "yes" }, { cursor: "x" }]) {
    await scene.refused(400, "POST /api/objects/restore", { json: { ...json, ...wrong } });
  }
});

test("tags of an object are replaced, and stay when its metadata is edited", async (t) => {
  const scene = await versionedScene(t);
  const { version } = await scene.put("a", "one");
  const json = { bucket, key: "a", version, tags: { team: "blue" } };
  await scene.get("PUT /api/object/tags", { json });
  await scene.refused(400, "PUT /api/object/tags", { json: { ...json, tags: { "": "x" } } });
  await scene.refused(400, "PUT /api/object/tags", { json: { ...json, tags: { a: 1 } } });
  const query = { bucket, key: "a" };
  const object = await scene.get<ObjectDocument>("GET /api/object", { query });
  assert.deepEqual(object.tags, { team: "blue" });
  const { etag, storageClass } = object;
  const metadata = { bucket, key: "a", etag, storageClass };
  for (const cacheExpiry of ["2026-11-31", "soon"])
    await scene.refused(400, "POST /api/object/metadata", {
      json: { ...metadata, httpMetadata: { cacheExpiry } },
    });
  await scene.get("POST /api/object/metadata", {
    json: { ...metadata, httpMetadata: { cacheExpiry: "2027-01-31" } },
  });
  assert.deepEqual((await scene.get<ObjectDocument>("GET /api/object", { query })).tags, { team: "blue" });
});
