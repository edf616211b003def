// Tests "Versions, time and tags" of docs/binding.md: lists of versions and lists as of a time.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { StoreListVersionsOptions, StorePresigningBucket } from "../../../../src/index.ts";
import type { Implementation } from "../../../support/stores.ts";
import { rejectsArgument, rejectsWith } from "../scene.ts";
import { summary, versionedBuckets } from "./setup.ts";

/** Lists page by page. Returns the summaries of all versions, and the delimited prefixes. */
async function listAll(bucket: StorePresigningBucket, options: Omit<StoreListVersionsOptions, "versions">) {
  const found: string[] = [];
  let { cursor } = options;
  do {
    const page = await bucket.list({ ...options, versions: true, cursor });
    assert.ok(page.objects.length + page.delimitedPrefixes.length <= (options.limit ?? 1000));
    found.push(...page.objects.map(summary), ...page.delimitedPrefixes);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return found;
}

/** Puts two versions of "a", three of "b/1" with a marker, one of "b/2" and one of "c". */
async function fill(bucket: StorePresigningBucket): Promise<void> {
  for (const key of ["a", "b/1", "b/2", "c"]) await bucket.put(key, "1");
  for (const key of ["a", "b/1"]) await bucket.put(key, "22");
  await bucket.delete("b/1");
}

const all = ["a:2*", "a:1", "b/1:deleted*", "b/1:2", "b/1:1", "b/2:1*", "c:1*"];

export function versionListContract(implementation: Implementation): void {
  describe("scripts list versions", () => {
    const create = versionedBuckets(implementation);

    test("list with versions returns versions and delete markers by key, the newest first", async () => {
      const { bucket } = await create();
      await fill(bucket);
      assert.deepEqual(await listAll(bucket, {}), all);
      assert.deepEqual(
        (await bucket.list({ versions: false })).objects.map(({ key }) => key),
        ["a", "b/2", "c"],
      );
    });

    test("a listed version has the fields of an object, and a delete marker only few", async () => {
      const { bucket, tick } = await create();
      const uploaded = tick();
      const stored = await bucket.put("a", "one", { customMetadata: { n: "1" }, tags: { t: "1" } });
      await bucket.delete("a");
      const [marker, object] = (await bucket.list({ versions: true })).objects;
      assert.ok(marker?.isDeleteMarker);
      const { version, ...fields } = marker;
      assert.match(version, /^[0-9a-f]{32}$/);
      assert.deepEqual(fields, { key: "a", uploaded, isDeleteMarker: true, isCurrent: true });
      assert.ok(object?.isDeleteMarker === false);
      assert.equal(object.isCurrent, false);
      assert.equal(object.version, stored.version);
      assert.equal(object.httpEtag, stored.httpEtag);
      assert.equal(object.customMetadata, undefined);
      assert.equal(object.tags, undefined);
      const include = ["customMetadata", "tags"];
      const [, whole] = (await bucket.list({ versions: true, include })).objects;
      assert.ok(whole?.isDeleteMarker === false);
      assert.deepEqual(whole.customMetadata, { n: "1" });
      assert.deepEqual(whole.tags, { t: "1" });
    });

    test("prefix, delimiter and startAfter choose the listed versions", async () => {
      const { bucket } = await create();
      await fill(bucket);
      assert.deepEqual(await listAll(bucket, { prefix: "b/" }), all.slice(2, 6));
      assert.deepEqual(await listAll(bucket, { delimiter: "/" }), ["a:2*", "a:1", "c:1*", "b"]);
      assert.deepEqual(await listAll(bucket, { startAfter: "a" }), all.slice(2));
      assert.deepEqual(await listAll(bucket, { startAfter: "b/1", prefix: "b/" }), ["b/2:1*"]);
      assert.deepEqual((await bucket.list({ versions: true, delimiter: "/" })).delimitedPrefixes, ["b"]);
    });

    test("pages of any size return every version once", async () => {
      const { bucket } = await create();
      await fill(bucket);
      for (const limit of [1, 2, 3, 7]) assert.deepEqual(await listAll(bucket, { limit }), all);
      const grouped = (await listAll(bucket, { limit: 1, delimiter: "/" })).sort();
      assert.deepEqual(grouped, ["a:1", "a:2*", "b", "c:1*"]);
      const { truncated, cursor } = await bucket.list({ versions: true, limit: 1 });
      assert.equal(truncated, true);
      const next = await bucket.list({ versions: true, cursor, startAfter: "a", limit: 1 });
      assert.deepEqual(next.objects.map(summary), ["b/1:deleted*"]);
      assert.equal((await bucket.list({ versions: true, limit: 0 })).truncated, true);
    });

    test("a cursor round-trips versions of keys with spaces and other scripts", async () => {
      const { bucket, change } = await create({});
      const keys = [" ", " a b", "null", "ü 文", "v k"];
      for (const key of keys) await bucket.put(key, "1");
      await change({ versioning: "on" });
      for (const key of keys) await bucket.put(key, "22");
      const expected = keys.flatMap((key) => [`${key}:2*`, `${key}:1`]);
      assert.deepEqual((await listAll(bucket, { limit: 1 })).sort(), expected.sort());
    });

    test("a cursor of another kind of list is refused", async () => {
      const { bucket } = await create();
      await fill(bucket);
      const { cursor } = await bucket.list({ limit: 1 });
      const { cursor: versionCursor } = await bucket.list({ versions: true, limit: 1 });
      const expected = { code: 10029, action: "list" };
      const plain = await rejectsWith(expected, () => bucket.list({ cursor: versionCursor }));
      assert.match(plain.message, /The cursor is of a list of versions/);
      const versions = await rejectsWith(expected, () => bucket.list({ versions: true, cursor }));
      assert.match(versions.message, /The cursor is not of a list of versions/);
      await rejectsWith(expected, () => bucket.list({ versions: true, cursor: "my own" }));
    });

    test("list as of a time returns the objects that were current then", async () => {
      const { bucket, tick } = await create();
      const before = tick();
      tick();
      await fill(bucket);
      const then = tick();
      tick();
      await bucket.put("b/1", "333");
      await bucket.put("new", "1");
      await bucket.delete(["a", "c"]);
      const sizes = async (at: Date, options = {}) => {
        const { objects, delimitedPrefixes } = await bucket.list({ at, ...options });
        return [...objects.map(({ key, size }) => `${key}:${size}`), ...delimitedPrefixes];
      };
      assert.deepEqual(await sizes(before), []);
      assert.deepEqual(await sizes(then), ["a:2", "b/2:1", "c:1"]);
      assert.deepEqual(await sizes(then, { prefix: "b/" }), ["b/2:1"]);
      assert.deepEqual(await sizes(then, { delimiter: "/" }), ["a:2", "c:1", "b"]);
      assert.deepEqual(await sizes(tick()), ["b/1:3", "b/2:1", "new:1"]);
      const { cursor } = await bucket.list({ at: then, limit: 1 });
      assert.deepEqual(await sizes(then, { cursor }), ["b/2:1", "c:1"]);
    });

    test("a bucket that was never versioned lists one current version of each object", async () => {
      const { bucket } = await create({});
      await bucket.put("a", "1");
      await bucket.put("a", "22");
      assert.deepEqual(await listAll(bucket, {}), ["a:2*"]);
    });

    test("wrong options of a list of versions are refused", async () => {
      const { bucket, loose } = await create();
      await bucket.put("a", "1");
      for (const versions of [1, 0, "true", {}]) {
        await rejectsArgument({ message: /^"versions" must be a boolean/ }, () => loose.list({ versions }));
      }
      for (const field of ["prefix", "cursor", "delimiter", "startAfter"]) {
        await rejectsArgument({}, () => loose.list({ versions: true, [field]: 1 }));
      }
      const message = /"versions" and "at" cannot be combined/;
      await rejectsArgument({ message }, () => loose.list({ versions: true, at: new Date() }));
      await rejectsArgument({}, () => loose.list({ versions: true, include: ["tag"] }));
      for (const limit of [-1, Number.NaN, "many"]) {
        await rejectsWith({ code: 10022, action: "list" }, () => loose.list({ versions: true, limit }));
      }
    });
  });
}
