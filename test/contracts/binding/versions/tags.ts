// Tests "Versions, time and tags" of docs/binding.md: tags of objects.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Implementation } from "../../../support/stores.ts";
import { rejectsArgument, rejectsWith, textOf } from "../scene.ts";
import { versionedBuckets } from "./setup.ts";

export function tagsContract(implementation: Implementation): void {
  describe("objects have tags", () => {
    const create = versionedBuckets(implementation);

    test("put and createMultipartUpload store tags, which every result has", async () => {
      const { bucket } = await create({});
      const tags = { project: "alpha", "cost centre": "42" };
      assert.deepEqual((await bucket.put("a", "value", { tags })).tags, tags);
      assert.deepEqual((await bucket.head("a"))?.tags, tags);
      assert.deepEqual((await bucket.get("a"))?.tags, tags);
      const upload = await bucket.createMultipartUpload("b", { tags });
      const object = await upload.complete([await upload.uploadPart(1, "hello")]);
      assert.deepEqual(object.tags, tags);
      assert.deepEqual(JSON.parse(JSON.stringify(await bucket.head("b"))).tags, tags);
    });

    test("an object without tags has empty tags, and a new put does not inherit tags", async () => {
      const { bucket } = await create({});
      await bucket.put("a", "value", { tags: { project: "alpha" } });
      assert.deepEqual((await bucket.put("a", "value", { tags: {} })).tags, {});
      await bucket.put("a", "value", { tags: { project: "alpha" } });
      assert.deepEqual((await bucket.put("a", "value")).tags, {});
      assert.deepEqual((await bucket.head("a"))?.tags, {});
    });

    test("list returns tags only when include names them", async () => {
      const { bucket } = await create({});
      await bucket.put("a", "value", { tags: { project: "alpha" } });
      await bucket.put("b", "value");
      const tagsOf = async (include?: string[]) =>
        (await bucket.list({ include })).objects.map(({ tags }) => tags);
      assert.deepEqual(await tagsOf(), [undefined, undefined]);
      assert.deepEqual(await tagsOf(["customMetadata"]), [undefined, undefined]);
      assert.deepEqual(await tagsOf(["tags"]), [{ project: "alpha" }, {}]);
    });

    test("setTags replaces all tags of a version and changes nothing else", async () => {
      const { bucket } = await create();
      const first = await bucket.put("a", "one", { tags: { a: "1", b: "2" }, customMetadata: { n: "1" } });
      const second = await bucket.put("a", "two");
      const changed = await bucket.setTags("a", { c: "3" }, { version: first.version });
      assert.equal(changed.version, first.version);
      assert.deepEqual(changed.tags, { c: "3" });
      assert.deepEqual(changed.customMetadata, { n: "1" });
      assert.deepEqual((await bucket.head("a"))?.tags, {});
      assert.equal((await bucket.setTags("a", { d: "4" })).version, second.version);
      assert.deepEqual((await bucket.head("a"))?.tags, { d: "4" });
      assert.deepEqual((await bucket.setTags("a", {})).tags, {});
      assert.equal(await textOf(bucket, "a"), "two");
      assert.equal((await bucket.list({ versions: true })).objects.length, 2);
    });

    test("setTags of a missing key, version or of a delete marker is refused", async () => {
      const { bucket } = await create();
      const action = "setTags";
      await rejectsWith({ code: 10007, action }, () => bucket.setTags("a", {}));
      await bucket.put("a", "one");
      const version = "0".repeat(32);
      await rejectsWith({ code: 10060, action }, () => bucket.setTags("a", {}, { version }));
      await bucket.delete("a");
      await rejectsWith({ code: 10007, action }, () => bucket.setTags("a", {}));
      const [marker] = (await bucket.list({ versions: true })).objects;
      await rejectsWith({ code: 10057, action }, () => bucket.setTags("a", {}, marker));
    });

    test("names and values of tags are converted to strings and checked", async () => {
      const { bucket, loose } = await create({});
      await loose.put("a", "one", { tags: { year: 2026, ["__proto__"]: true } });
      const { tags } = (await bucket.head("a")) ?? {};
      assert.deepEqual(Object.entries(tags ?? {}), [
        ["year", "2026"],
        ["__proto__", "true"],
      ]);
      const tooMany = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`tag-${i}`, ""]));
      for (const tags of [tooMany, { "": "a" }, { a: "ä?" }, { a: "\ud800" }, { "aws:a": "" }]) {
        await rejectsWith({ code: 10059, action: "put" }, () => bucket.put("a", "two", { tags }));
        await rejectsWith({ code: 10059, action: "setTags" }, () => bucket.setTags("a", tags));
        const upload = () => bucket.createMultipartUpload("a", { tags });
        await rejectsWith({ code: 10059, action: "createMultipartUpload" }, upload);
      }
      assert.equal(await textOf(bucket, "a"), "one");
      assert.equal(Object.keys((await bucket.head("a"))?.tags ?? {}).length, 2);
    });

    test("tags that are not an object of names and values are refused with a TypeError", async () => {
      const { bucket, loose } = await create({});
      await bucket.put("a", "one", { tags: { a: "1" } });
      const message = /^"tags" must be an object of names and values, not /;
      for (const tags of ["a=1", 1, true, ["a"], new Map([["a", "1"]]), new Headers({ a: "1" })]) {
        await rejectsArgument({ message }, () => loose.put("a", "two", { tags }));
        await rejectsArgument({ message }, () => loose.createMultipartUpload("a", { tags }));
        await rejectsArgument({ message }, () => loose.setTags("a", tags));
      }
      await rejectsArgument({ message }, () => loose.setTags("a"));
      await rejectsArgument({ message }, () => loose.setTags("a", null));
      await rejectsArgument({}, () => loose.setTags());
      await rejectsArgument({}, () => loose.setTags("a", {}, "version"));
      await rejectsArgument({}, () => loose.setTags("a", {}, { version: 1 }));
      await rejectsArgument({}, () => loose.put("a", "two", { tags: { a: Symbol("a") } }));
      assert.deepEqual((await bucket.head("a"))?.tags, { a: "1" });
      assert.equal(await textOf(bucket, "a"), "one");
    });
  });
}
