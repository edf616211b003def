// Tests "Arguments" of binding.md: which arguments are converted, ignored or refused.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Implementation } from "../../../support/stores.ts";
import { furnish, isArgumentError, loose, looseUpload, openBucket, rejection, textOf } from "../scene.ts";

export function argumentsContract(implementation: Implementation): void {
  describe("arguments of bucket methods are converted and validated", () => {
    test("keys are converted with ToString", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const untyped = loose(bucket);
      const named = { toString: () => "named" };
      const cases: readonly (readonly [given: unknown, key: string])[] = [
        [42, "42"],
        [null, "null"],
        [true, "true"],
        [-0, "0"],
        [10n, "10"],
        [named, "named"],
        [{}, "[object Object]"],
        [["a", "b"], "a,b"],
      ];
      for (const [given, key] of cases) {
        await untyped.put(given, `value of ${key}`);
        assert.equal((await bucket.head(key))?.key, key);
        assert.ok(await untyped.head(given));
        assert.ok(await untyped.get(given));
        assert.equal(await textOf(bucket, key), `value of ${key}`);
        const upload = await untyped.createMultipartUpload(given);
        assert.equal(upload.key, key);
        await untyped.resumeMultipartUpload(given, upload.uploadId).abort();
        // delete treats an array as a list of keys, so an array as a key is wrapped in a list.
        await untyped.delete(Array.isArray(given) ? [given] : given);
        assert.equal(await bucket.head(key), null);
      }
      await bucket.put("1", "one");
      await bucket.put("named", "two");
      await untyped.delete([1, named]);
      assert.deepEqual((await bucket.list()).objects, []);
    });

    test("a Symbol as a key is refused with a TypeError", async (t) => {
      const scene = await furnish(t, implementation);
      const key = Symbol("kept");
      for (const act of [
        () => scene.loose.head(key),
        () => scene.loose.get(key),
        () => scene.loose.put(key, "value"),
        () => scene.loose.delete(key),
        () => scene.loose.delete(["kept", key]),
        () => scene.loose.createMultipartUpload(key),
      ]) {
        await scene.refusesArgument({}, act);
      }
    });

    test("a missing required argument is refused with a TypeError", async (t) => {
      const scene = await furnish(t, implementation);
      const upload = looseUpload(scene.upload);
      for (const act of [
        () => scene.loose.head(),
        () => scene.loose.get(),
        () => scene.loose.put(),
        () => scene.loose.put("kept"),
        () => scene.loose.delete(),
        () => scene.loose.createMultipartUpload(),
        () => upload.uploadPart(),
        () => upload.uploadPart(1),
        () => upload.complete(),
      ]) {
        await scene.refusesArgument({}, act);
      }
      for (const args of [[], ["kept"]]) {
        assert.throws(
          () => scene.loose.resumeMultipartUpload(...args),
          (error) => isArgumentError({}, error) instanceof TypeError,
        );
      }
      await scene.completesOngoing();
    });

    test("put refuses a value of an unsupported type with a TypeError", async (t) => {
      const scene = await furnish(t, implementation);
      for (const value of [undefined, 42, true, 10n, {}, ["a"], () => "a", Symbol("a"), new Date(0)]) {
        await scene.refusesArgument({}, () => scene.loose.put("kept", value));
        await scene.refusesArgument({}, () => looseUpload(scene.upload).uploadPart(1, value));
      }
      await scene.refusesArgument({}, () => looseUpload(scene.upload).uploadPart(1, null));
      await scene.completesOngoing();
    });

    test("options that are undefined or null are treated as absent", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const untyped = loose(bucket);
      for (const options of [undefined, null]) {
        await untyped.put("key", "value", options);
        assert.equal(await (await bucket.get("key", options))?.text(), "value");
        assert.equal((await bucket.list(options)).objects.length, 1);
        const upload = await untyped.createMultipartUpload("other", options);
        const part = await looseUpload(upload).uploadPart(1, "hello", options);
        await looseUpload(upload).complete([part]);
        await bucket.delete("other");
      }
    });

    test("option fields that are undefined are treated as absent", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const writing = {
        httpMetadata: undefined,
        customMetadata: undefined,
        storageClass: undefined,
        ssecKey: undefined,
      };
      const hashes = {
        md5: undefined,
        sha1: undefined,
        sha256: undefined,
        sha384: undefined,
        sha512: undefined,
      };
      const object = await bucket.put("key", "value", { ...writing, ...hashes, onlyIf: undefined });
      assert.equal(object.storageClass, "Standard");
      assert.equal(object.ssecKeyMd5, undefined);
      const reading = { onlyIf: undefined, range: undefined, ssecKey: undefined, httpMetadata: undefined };
      assert.equal(await (await bucket.get("key", reading))?.text(), "value");
      const page = await bucket.list({
        limit: undefined,
        prefix: undefined,
        cursor: undefined,
        delimiter: undefined,
        startAfter: undefined,
        include: undefined,
      });
      assert.equal(page.objects.length, 1);
      const upload = await bucket.createMultipartUpload("other", writing);
      await upload.complete([await upload.uploadPart(1, "hello", { ssecKey: undefined })]);
      assert.equal(await textOf(bucket, "other"), "hello");
    });

    test("unknown option fields are ignored", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const untyped = loose(bucket);
      const unknown = { colour: "blue", toString: 42, [Symbol("s")]: 1 };
      await untyped.put("key", "value", { ...unknown, httpMetadata: { contentType: "a/b", ...unknown } });
      assert.ok(await untyped.get("key", { ...unknown, onlyIf: unknown, range: unknown }));
      assert.ok(await untyped.list(unknown));
      const upload = await untyped.createMultipartUpload("other", unknown);
      await looseUpload(upload).complete([await looseUpload(upload).uploadPart(1, "hello", unknown)]);
      assert.deepEqual({ ...(await bucket.head("key"))?.httpMetadata }, { contentType: "a/b" });
    });

    test("options that are not an object are refused with a TypeError", async (t) => {
      const scene = await furnish(t, implementation);
      const upload = looseUpload(scene.upload);
      for (const options of ["", "options", 0, 42, true, 10n, Symbol("options")]) {
        await scene.refusesArgument({}, () => scene.loose.get("kept", options));
        await scene.refusesArgument({}, () => scene.loose.put("kept", "value", options));
        await scene.refusesArgument({}, () => scene.loose.list(options));
        await scene.refusesArgument({}, () => scene.loose.createMultipartUpload("kept", options));
        await scene.refusesArgument({}, () => upload.uploadPart(1, "value", options));
      }
      await scene.completesOngoing();
    });

    test("conditions, ranges and metadata that are not objects are refused with a TypeError", async (t) => {
      const scene = await furnish(t, implementation);
      for (const wrong of ["text", 42, true]) {
        for (const field of ["onlyIf", "range", "httpMetadata"]) {
          await scene.refusesArgument({}, () => scene.loose.get("kept", { [field]: wrong }));
        }
        for (const field of ["onlyIf", "httpMetadata", "customMetadata"]) {
          await scene.refusesArgument({}, () => scene.loose.put("kept", "value", { [field]: wrong }));
        }
        for (const field of ["httpMetadata", "customMetadata"]) {
          await scene.refusesArgument({}, () =>
            scene.loose.createMultipartUpload("kept", { [field]: wrong }),
          );
        }
      }
    });

    test("prefix, cursor, delimiter and startAfter must be strings and are not converted", async (t) => {
      const scene = await furnish(t, implementation);
      for (const field of ["prefix", "cursor", "delimiter", "startAfter"]) {
        for (const value of [42, true, {}, ["kept"], Object("kept"), Symbol("kept")]) {
          await scene.refusesArgument({}, () => scene.loose.list({ [field]: value }));
        }
      }
    });

    test("etags in conditions must be strings and are not converted", async (t) => {
      const scene = await furnish(t, implementation);
      for (const field of ["etagMatches", "etagDoesNotMatch"]) {
        for (const value of [42, true, {}, ["a"], Object("a"), Symbol("a")]) {
          const onlyIf = { [field]: value };
          await scene.refusesArgument({}, () => scene.loose.get("kept", { onlyIf }));
          await scene.refusesArgument({}, () => scene.loose.put("kept", "value", { onlyIf }));
        }
      }
    });

    test("checksums must be strings or bytes and are not converted", async (t) => {
      const scene = await furnish(t, implementation);
      for (const field of ["md5", "sha1", "sha256", "sha384", "sha512"]) {
        for (const value of [42, true, {}, [1, 2], Object("00"), Symbol("a")]) {
          await scene.refusesArgument({}, () => scene.loose.put("kept", "value", { [field]: value }));
        }
      }
    });

    test("a date can be a Date or a number of milliseconds", async (t) => {
      const scene = await furnish(t, implementation);
      const { bucket, loose } = scene;
      const uploaded = (await bucket.head("kept"))?.uploaded.getTime() ?? 0;
      for (const date of [uploaded + 1, new Date(uploaded + 1)]) {
        assert.ok("body" in ((await bucket.get("kept", { onlyIf: { uploadedBefore: date } })) ?? {}));
        assert.ok(!("body" in ((await bucket.get("kept", { onlyIf: { uploadedAfter: date } })) ?? {})));
      }
      for (const date of ["2024-01-01", {}, true, Symbol("now")]) {
        for (const field of ["uploadedBefore", "uploadedAfter"]) {
          const onlyIf = { [field]: date };
          await scene.refusesArgument({}, () => loose.get("kept", { onlyIf }));
          await scene.refusesArgument({}, () => loose.put("kept", "value", { onlyIf }));
        }
        const httpMetadata = { cacheExpiry: date };
        await scene.refusesArgument({}, () => loose.put("kept", "value", { httpMetadata }));
        await scene.refusesArgument({}, () => loose.createMultipartUpload("kept", { httpMetadata }));
      }
      for (const date of [new Date(Number.NaN), Number.NaN]) {
        const refused = await scene.unchangedBy(() =>
          rejection(() => loose.put("kept", "value", { onlyIf: { uploadedBefore: date } })),
        );
        assert.ok(refused instanceof TypeError || refused instanceof RangeError);
      }
      await loose.put("dated", "value", { httpMetadata: { cacheExpiry: 86_400_000 } });
      assert.deepEqual((await bucket.head("dated"))?.httpMetadata?.cacheExpiry, new Date(86_400_000));
    });
  });
}
