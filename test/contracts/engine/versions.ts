// Engine contract: versions of objects, reads and listings as of a time, and tags.
import assert from "node:assert/strict";
import type { Engine } from "../../../src/engine/engine.ts";
import { isDeleteMarker, versionId } from "../../../src/model/version.ts";
import { bucket, type Chapter, contentOf, emptied, failsWith, type SharedEngine } from "./setup.ts";

const bytes = (text: string) => Buffer.from(text);

async function versioned(shared: SharedEngine): Promise<SharedEngine> {
  await emptied(shared);
  await shared.engine.changeSettings(bucket, { versioning: "on" });
  return shared;
}

async function put(engine: Engine, key: string, text: string): Promise<string> {
  const outcome = await engine.put(bucket, key, bytes(text));
  assert.ok(outcome.outcome === "stored");
  return outcome.record.version;
}

/** Returns "key id" of all versions in listed order; a delete marker has a minus sign. */
async function versionsOf(engine: Engine): Promise<string[]> {
  const { versions } = await engine.listVersions(bucket);
  return versions.map(
    ({ version }) => `${version.key} ${isDeleteMarker(version) ? "-" : ""}${versionId(version)}`,
  );
}

export const versions: Chapter = async (t, shared) => {
  await t.test("an overwritten version is read by its id", async () => {
    const { engine } = await versioned(shared);
    const first = await put(engine, "a", "one");
    const large = "x".repeat(300_000);
    const second = await put(engine, "a", large);
    const third = await put(engine, "a", "three");
    assert.equal((await contentOf(engine, "a", { version: first })).toString(), "one");
    assert.equal((await contentOf(engine, "a", { version: second })).toString(), large);
    assert.equal((await contentOf(engine, "a")).toString(), "three");
    assert.equal((await engine.head(bucket, "a", { version: first }))?.size, 3);
    assert.deepEqual(await engine.get(bucket, "a", { version: "0".repeat(32) }), { outcome: "missing" });
    assert.deepEqual(await versionsOf(engine), [`a ${third}`, `a ${second}`, `a ${first}`]);
  });

  await t.test("a delete hides the object by a delete marker, whose removal brings it back", async () => {
    const { engine } = await versioned(shared);
    const first = await put(engine, "a", "one");
    const [marker] = await engine.delete(bucket, ["a"]);
    assert.equal(await engine.head(bucket, "a"), undefined);
    const got = await engine.get(bucket, "a");
    assert.ok(got.outcome === "missing");
    assert.deepEqual(got.marker, marker);
    assert.equal((await contentOf(engine, "a", { version: first })).toString(), "one");
    assert.deepEqual((await engine.list(bucket)).objects, []);
    const [deletion] = await engine.deleteVersions(bucket, [{ key: "a", version: marker!.version }]);
    assert.equal(deletion?.outcome, "deleted");
    assert.equal((await contentOf(engine, "a")).toString(), "one");
  });

  await t.test("a key that is deleted twice in one call gets one delete marker", async () => {
    const { engine } = await versioned(shared);
    await put(engine, "a", "one");
    const markers = await engine.delete(bucket, ["a", "b", "a", "a"]);
    assert.deepEqual(
      markers.map(({ key }) => key),
      ["a", "b"],
    );
    assert.equal((await versionsOf(engine)).length, 3);
  });

  await t.test("a version that is named twice is removed once, and both answers say so", async () => {
    const { engine } = await emptied(shared);
    const id = await put(engine, "a", "null");
    await engine.changeSettings(bucket, { versioning: "on" });
    const kept = await put(engine, "a", "one");
    const target = { key: "a", version: "null" };
    const outcomes = await engine.deleteVersions(bucket, [target, { key: "a", version: id }, target]);
    assert.deepEqual(
      outcomes.map((one) => one.outcome === "deleted" && one.version.version),
      [id, id, id],
    );
    assert.deepEqual(await versionsOf(engine), [`a ${kept}`]);
  });

  await t.test("removed versions are gone with their bytes", async () => {
    const { engine, blobs } = await versioned(shared);
    const first = await put(engine, "a", "x".repeat(300_000));
    await put(engine, "a", "two");
    const outcomes = await engine.deleteVersions(bucket, [
      { key: "a", version: first },
      { key: "a", version: first },
      { key: "b", version: first },
    ]);
    assert.deepEqual(
      outcomes.map(({ outcome }) => outcome),
      ["deleted", "deleted", "missing"],
    );
    await engine.sweep();
    const left: string[] = [];
    for await (const blob of blobs.all(bucket)) left.push(blob);
    assert.deepEqual(left, []);
    assert.equal((await engine.get(bucket, "a", { version: first })).outcome, "missing");
  });

  await t.test("with versioning suspended, writes replace the null version and keep the others", async () => {
    const { engine } = await emptied(shared);
    await put(engine, "a", "null 1");
    await engine.changeSettings(bucket, { versioning: "on" });
    const kept = await put(engine, "a", "kept");
    await engine.changeSettings(bucket, { versioning: "suspended" });
    assert.deepEqual(await versionsOf(engine), [`a ${kept}`, "a null"]);
    await put(engine, "a", "null 2");
    assert.deepEqual(await versionsOf(engine), ["a null", `a ${kept}`]);
    assert.equal((await contentOf(engine, "a", { version: "null" })).toString(), "null 2");
    const [marker] = await engine.delete(bucket, ["a"]);
    assert.equal(marker?.isVersioned, undefined);
    assert.deepEqual(await versionsOf(engine), ["a -null", `a ${kept}`]);
  });

  await t.test("versioning cannot be removed, only suspended", async () => {
    const { engine } = await versioned(shared);
    await assert.rejects(
      engine.changeSettings(bucket, { versioning: undefined }),
      failsWith("InvalidBucketState"),
    );
    assert.equal(await engine.changeSettings(bucket, { versioning: "suspended" }), "committed");
    assert.equal((await engine.bucket(bucket))?.settings.versioning, "suspended");
  });

  await t.test("conditions apply to the current version", async () => {
    const { engine } = await versioned(shared);
    const create = () => engine.put(bucket, "a", bytes("x"), { condition: { etagDoesNotMatch: "*" } });
    assert.equal((await create()).outcome, "stored");
    assert.equal((await create()).outcome, "refused");
    await engine.delete(bucket, ["a"]);
    assert.equal((await create()).outcome, "stored");
    assert.equal((await versionsOf(engine)).length, 3);
  });

  await t.test("a completed upload is a version", async () => {
    const { engine } = await versioned(shared);
    const first = await put(engine, "a", "one");
    const upload = await engine.createUpload(bucket, "a", { tags: new Map([["k", "v"]]) });
    const part = await engine.uploadPart(bucket, upload, 1, bytes("two"));
    const record = await engine.completeUpload(bucket, upload, [part]);
    assert.deepEqual(await versionsOf(engine), [`a ${record.version}`, `a ${first}`]);
    assert.deepEqual(record.tags, new Map([["k", "v"]]));
  });

  await t.test("a bucket with versions is not empty", async () => {
    const { engine } = await versioned(shared);
    await put(engine, "a", "one");
    await engine.delete(bucket, ["a"]);
    await assert.rejects(engine.deleteBucket(bucket), failsWith("BucketNotEmpty"));
  });

  await t.test("a bucket is read and listed as of a time", async () => {
    const { engine, time } = await versioned(shared);
    await put(engine, "a", "one");
    time.time += 1000;
    const between = time.time;
    time.time += 1000;
    await put(engine, "a", "two");
    await put(engine, "b", "new");
    time.time += 1000;
    await engine.delete(bucket, ["a"]);
    assert.equal((await contentOf(engine, "a", { time: between })).toString(), "one");
    assert.equal((await contentOf(engine, "a", { time: between + 1000 })).toString(), "two");
    assert.equal((await engine.get(bucket, "a", { time: time.time })).outcome, "missing");
    const keys = async (at?: number) =>
      (await engine.list(bucket, { time: at })).objects.map(({ key }) => key);
    assert.deepEqual(await keys(between), ["a"]);
    assert.deepEqual(await keys(between + 1000), ["a", "b"]);
    assert.deepEqual(await keys(), ["b"]);
  });

  await t.test("tags are put, replaced and removed without a new version", async () => {
    const { engine } = await versioned(shared);
    const outcome = await engine.put(bucket, "a", bytes("one"), { tags: new Map([["k", "1"]]) });
    assert.ok(outcome.outcome === "stored");
    const { version } = outcome.record;
    await put(engine, "a", "two");
    await engine.setTags(bucket, "a", new Map([["k", "2"]]), { version });
    assert.deepEqual((await engine.head(bucket, "a", { version }))?.tags, new Map([["k", "2"]]));
    assert.equal((await engine.head(bucket, "a"))?.tags, undefined);
    await engine.setTags(bucket, "a", new Map(), { version });
    assert.equal((await engine.head(bucket, "a", { version }))?.tags, undefined);
    assert.equal((await contentOf(engine, "a", { version })).toString(), "one");
    assert.equal((await versionsOf(engine)).length, 2);
    const tooMany = new Map(Array.from({ length: 11 }, (_, i) => [`k${i}`, ""]));
    await assert.rejects(engine.put(bucket, "a", bytes(""), { tags: tooMany }), failsWith("InvalidTag"));
    await assert.rejects(engine.setTags(bucket, "b", new Map()), failsWith("NoSuchKey"));
    const other = { version: "0".repeat(32) };
    await assert.rejects(engine.setTags(bucket, "a", new Map(), other), failsWith("NoSuchVersion"));
  });
};
