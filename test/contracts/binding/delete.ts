// Tests "delete" of binding.md: missing keys, empty batches and atomic batches.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Implementation } from "../../support/stores.ts";
import { furnish, MiB, openBucket, patterned } from "./scene.ts";
import { sweptStore } from "./shared-stores.ts";

export function deleteContract(implementation: Implementation): void {
  describe("delete removes one key or many", () => {
    test("delete of one key removes it and resolves to undefined", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("a", "value");
      await bucket.put("b", "value");
      assert.equal(await bucket.delete("a"), undefined);
      assert.equal(await bucket.head("a"), null);
      assert.equal(await bucket.get("a"), null);
      assert.deepEqual(
        (await bucket.list()).objects.map(({ key }) => key),
        ["b"],
      );
    });

    test("delete of missing keys succeeds", async (t) => {
      const scene = await furnish(t, implementation);
      await scene.unchangedBy(() => scene.bucket.delete("missing"));
      await scene.unchangedBy(() => scene.bucket.delete(["missing", "missing too"]));
      await scene.bucket.delete(["missing", "kept", "kept", "sealed", "empty", "larger"]);
      assert.deepEqual((await scene.bucket.list()).objects, []);
      await scene.completesOngoing();
    });

    test("delete of an empty array succeeds and changes nothing", async (t) => {
      const scene = await furnish(t, implementation);
      assert.equal(await scene.unchangedBy(() => scene.bucket.delete([])), undefined);
    });

    test("delete removes 1000 keys in one call", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const keys = Array.from({ length: 1000 }, (_, i) => `key-${i}`);
      await Promise.all(keys.slice(0, 50).map((key) => bucket.put(key, "value")));
      await bucket.put("other", "value");
      await bucket.delete(keys);
      assert.deepEqual(
        (await bucket.list()).objects.map(({ key }) => key),
        ["other"],
      );
    });

    test("delete validates all keys of a batch before it deletes any", async (t) => {
      const scene = await furnish(t, implementation);
      for (const wrong of ["k".repeat(1025), "\ud800"]) {
        const expected = { code: 10020, action: "delete" };
        await scene.refuses(expected, () => scene.bucket.delete(["kept", "sealed", wrong]));
        await scene.refuses(expected, () => scene.bucket.delete([wrong, "kept"]));
      }
      await scene.refusesArgument({}, () => scene.loose.delete(["kept", Symbol("key")]));
    });

    test("delete of several keys is atomic: no reader sees only some of them deleted", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const keys = Array.from({ length: 60 }, (_, i) => `key-${i}`);
      for (let round = 0; round < 3; round++) {
        await Promise.all(keys.map((key) => bucket.put(key, "value")));
        let deleted = false;
        const deleting = bucket.delete(keys).then(() => {
          deleted = true;
        });
        const seen = new Set<number>();
        while (!deleted) {
          seen.add((await bucket.list()).objects.length);
          await setImmediate();
        }
        await deleting;
        seen.add((await bucket.list()).objects.length);
        for (const count of seen) assert.ok(count === 60 || count === 0, `${count} of 60 keys were seen`);
        assert.ok(seen.has(0));
      }
    });

    test("delete frees the bytes of the deleted object and keeps the bytes of other objects", async (t) => {
      const { store, bucket } = await openBucket(t, implementation, sweptStore);
      await bucket.put("gone", patterned(MiB));
      await bucket.put("stays", patterned(MiB, 2));
      await bucket.delete("gone");
      await store.sweep();
      const stays = await bucket.get("stays");
      assert.ok(Buffer.from(await stays!.arrayBuffer()).equals(patterned(MiB, 2)));
    });
  });
}
