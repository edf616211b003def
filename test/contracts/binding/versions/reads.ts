// Tests "Versions, time and tags" of docs/binding.md: reading and removing versions.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { StoreHeadOptions, StorePresigningBucket } from "../../../../src/index.ts";
import type { Implementation } from "../../../support/stores.ts";
import { patterned, rejectsArgument, rejectsWith } from "../scene.ts";
import { summary, versionedBuckets } from "./setup.ts";

async function read(bucket: StorePresigningBucket, options: StoreHeadOptions): Promise<string | null> {
  const object = await bucket.get("a", options);
  const head = await bucket.head("a", options);
  assert.equal(head?.version, object?.version);
  return object === null ? null : object.text();
}

export function versionReadsContract(implementation: Implementation): void {
  describe("scripts read and remove versions", () => {
    const create = versionedBuckets(implementation);

    test("get and head read a version by its id, whether it is current or not", async () => {
      const { bucket } = await create();
      const first = await bucket.put("a", "one", { customMetadata: { n: "1" } });
      const second = await bucket.put("a", "two");
      assert.equal(await read(bucket, { version: first.version }), "one");
      assert.equal(await read(bucket, { version: second.version }), "two");
      assert.equal(await read(bucket, {}), "two");
      assert.deepEqual((await bucket.head("a", { version: first.version }))?.customMetadata, { n: "1" });
    });

    test("a missing version, and a version of another key, read as null", async () => {
      const { bucket } = await create();
      const { version } = await bucket.put("other", "one");
      await bucket.put("a", "one");
      assert.equal(await read(bucket, { version: "0".repeat(32) }), null);
      assert.equal(await read(bucket, { version }), null);
      assert.equal(await read(bucket, { version: "null" }), null);
    });

    test('the version "null" is the version written while versioning was not on', async () => {
      const { bucket, change } = await create({});
      const { version } = await bucket.put("a", "early");
      assert.equal(await read(bucket, { version: "null" }), "early");
      await change({ versioning: "on" });
      await bucket.put("a", "late");
      assert.equal(await read(bucket, { version: "null" }), "early");
      assert.equal(await read(bucket, { version }), "early");
      await bucket.delete("a", { version: "null" });
      assert.equal(await read(bucket, { version: "null" }), null);
      assert.equal(await read(bucket, {}), "late");
    });

    test("ranges and conditions apply to the version that get names", async () => {
      const { bucket } = await create();
      const first = await bucket.put("a", patterned(10_000));
      await bucket.put("a", "two");
      const options = { version: first.version, range: { offset: 9000, length: 500 } };
      const part = await bucket.get("a", options);
      assert.deepEqual(await part?.bytes(), patterned(10_000).slice(9000, 9500));
      const onlyIf = { etagMatches: first.etag };
      assert.ok("body" in ((await bucket.get("a", { version: first.version, onlyIf })) ?? {}));
      assert.ok(!("body" in ((await bucket.get("a", { onlyIf })) ?? {})));
    });

    test("get and head read the object that was current at a time", async () => {
      const { bucket, tick } = await create();
      const before = tick();
      tick();
      await bucket.put("a", "one");
      const then = tick();
      tick();
      await bucket.put("a", "two");
      const later = tick();
      tick();
      await bucket.delete("a");
      assert.equal(await read(bucket, { at: before }), null);
      assert.equal(await read(bucket, { at: then }), "one");
      assert.equal(await read(bucket, { at: later }), "two");
      assert.equal(await read(bucket, { at: tick() }), null);
      assert.equal(await read(bucket, {}), null);
    });

    test("a delete leaves a marker, and removing the marker brings the object back", async () => {
      const { bucket } = await create();
      const { version } = await bucket.put("a", "one");
      await bucket.delete(["a"]);
      assert.equal(await read(bucket, {}), null);
      assert.equal(await read(bucket, { version }), "one");
      const [marker] = (await bucket.list({ versions: true })).objects;
      assert.ok(marker?.isDeleteMarker);
      assert.equal(await read(bucket, { version: marker.version }), null);
      assert.equal(await bucket.delete("a", { version: marker.version }), undefined);
      assert.equal(await read(bucket, {}), "one");
    });

    test("delete with a version removes that version for good, and succeeds if the version does not exist", async () => {
      const { bucket } = await create();
      const first = await bucket.put("a", "one");
      const second = await bucket.put("a", "second");
      await bucket.delete("a", { version: second.version });
      await bucket.delete("a", { version: second.version });
      await bucket.delete("missing", { version: first.version });
      assert.deepEqual((await bucket.list({ versions: true })).objects.map(summary), ["a:3*"]);
      await bucket.delete("a", { version: first.version });
      assert.deepEqual((await bucket.list({ versions: true })).objects, []);
    });

    test("delete without a version treats options that are undefined or null as absent", async () => {
      const { bucket, loose } = await create({});
      for (const options of [undefined, null, {}, { version: undefined }, { version: null }]) {
        await bucket.put("a", "one");
        await loose.delete("a", options);
        assert.equal(await bucket.head("a"), null);
      }
    });

    test("wrong versions, times and combinations are refused with a TypeError", async () => {
      const { bucket, loose } = await create();
      const { version } = await bucket.put("a", "one");
      const at = new Date();
      for (const wrong of ["version", 1, true, Symbol("a")]) {
        await rejectsArgument({}, () => loose.get("a", wrong));
        await rejectsArgument({}, () => loose.head("a", wrong));
        await rejectsArgument({}, () => loose.delete("a", wrong));
      }
      for (const wrong of [1, true, {}, ["a"], ""]) {
        const message = /^"version" must /;
        await rejectsArgument({ message }, () => loose.get("a", { version: wrong }));
        await rejectsArgument({ message }, () => loose.head("a", { version: wrong }));
        await rejectsArgument({ message }, () => loose.delete("a", { version: wrong }));
      }
      for (const wrong of [0, at.getTime(), at.toISOString(), true, {}, new Date(Number.NaN)]) {
        const message = /^"at" must be a valid Date, not /;
        await rejectsArgument({ message }, () => loose.get("a", { at: wrong }));
        await rejectsArgument({ message }, () => loose.head("a", { at: wrong }));
        await rejectsArgument({ message }, () => loose.list({ at: wrong }));
      }
      const message = /"version" and "at" cannot be combined/;
      await rejectsArgument({ message }, () => loose.get("a", { version, at }));
      await rejectsArgument({ message }, () => loose.head("a", { version, at }));
      await rejectsArgument({ message: /needs one key/ }, () => loose.delete(["a"], { version }));
      await rejectsArgument({}, () => loose.delete(undefined, { version }));
      assert.equal(await read(bucket, { version }), "one");
    });

    test("a version of an invalid key is refused", async () => {
      const { bucket } = await create();
      const key = "k".repeat(1025);
      const version = "0".repeat(32);
      await rejectsWith({ code: 10020, action: "get" }, () => bucket.get(key, { version }));
      await rejectsWith({ code: 10020, action: "head" }, () => bucket.head(key, { at: new Date() }));
      await rejectsWith({ code: 10020, action: "delete" }, () => bucket.delete(key, { version }));
    });
  });
}
