// Spec 2.1 and 2.2: keys, and every field of an object's metadata.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import type { StoreObject } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";
import {
  day,
  fewSizes,
  fieldsOf,
  mustGet,
  mustHead,
  mustList,
  openBucket,
  pattern,
  putInParts,
  sharedBucket,
  stoppedClock,
  textOf,
} from "./support.ts";

/** Keys that code would confuse if it used them as paths or normalised them. */
const distinctKeys = [
  ...["", " ", ".", "..", "/", "//", "a", "A", "a/", "/a", "a//b", "a/b", "a/../b", "a/./b", "a\\b"],
  ...["%2e", "%", "_", "a%2Fb", "a?b", "a#b", "a\0b", "a\nb", "\u00e9", "e\u0301", "\u{1f600}", "\uffff"],
  ...["__proto__", "constructor", "null", "undefined", "0", "00", "true", "'", '"', "k".repeat(1024)],
];

export function objectSentences(implementation: Implementation): void {
  describe("keys behave as the spec states", () => {
    const open = sharedBucket(implementation);

    test("spec 2.1: an object is addressed by a string key", async () => {
      const { bucket } = await open();
      await Promise.all(distinctKeys.map((key) => bucket.put(key, `value of ${key}`)));
      for (const key of distinctKeys) {
        assert.equal(await textOf(bucket, key), `value of ${key}`);
        assert.equal((await mustHead(bucket, key)).key, key);
      }
      const { objects } = await bucket.list();
      assert.equal(objects.length, distinctKeys.length);
      assert.deepEqual(new Set(objects.map((object) => object.key)), new Set(distinctKeys));
      await bucket.delete("a");
      assert.equal(await bucket.head("a"), null);
      assert.equal((await bucket.list()).objects.length, distinctKeys.length - 1);
    });

    test("spec 2.1: a key addresses an object in its own bucket only", async () => {
      const { store, bucket } = await open();
      await store.createBucket("other");
      const other = store.bucket("other");
      await bucket.put("key", "here");
      assert.equal(await other.get("key"), null);
      await other.put("key", "there");
      assert.equal(await textOf(bucket, "key"), "here");
      assert.equal(await textOf(other, "key"), "there");
      await other.delete("key");
      assert.equal(await textOf(bucket, "key"), "here");
    });
  });

  describe("a StoreObject has the fields of the spec", () => {
    const open = sharedBucket(implementation);

    test("spec 2.2: head, get and list return a StoreObject equal to the StoreObject that put returned", async () => {
      const { bucket } = await open();
      for (const size of fewSizes) {
        for (const ssecKey of [undefined, "5".repeat(64)]) {
          const put = await bucket.put("key", pattern(size), {
            httpMetadata: { contentType: "image/png", cacheExpiry: new Date(5000) },
            customMetadata: { one: "1", two: "zwei" },
            storageClass: "InfrequentAccess",
            ssecKey,
          });
          // Checksums of an encrypted object are returned only to callers with the key.
          const seen = ssecKey === undefined ? fieldsOf(put) : { ...fieldsOf(put), checksums: {} };
          assert.deepEqual(fieldsOf(await mustHead(bucket, "key")), seen);
          assert.deepEqual(fieldsOf(await mustList(bucket, "key")), seen);
          const got = await mustGet(bucket, "key", { ssecKey });
          assert.deepEqual(fieldsOf(got), fieldsOf(put));
          await got.body.cancel();
        }
      }
    });

    test("spec 2.2: head, get and list return a StoreObject equal to the StoreObject that complete returned", async () => {
      const { bucket } = await open();
      const completed = await putInParts(bucket, "key", ["hello ", "world"], {
        httpMetadata: { contentType: "text/plain" },
        customMetadata: { one: "1" },
      });
      assert.deepEqual(fieldsOf(await mustHead(bucket, "key")), fieldsOf(completed));
      assert.deepEqual(fieldsOf(await mustList(bucket, "key")), fieldsOf(completed));
      assert.deepEqual(fieldsOf(await mustGet(bucket, "key")), fieldsOf(completed));
    });

    test("spec 2.2: a StoreObject has the metadata and storage class given to put", async () => {
      const { bucket } = await open();
      const given = {
        httpMetadata: {
          contentType: "text/html; charset=utf-8",
          contentLanguage: "de, en",
          contentDisposition: 'attachment; filename="a b.html"',
          contentEncoding: "br",
          cacheControl: "max-age=60, public",
          cacheExpiry: new Date(Date.UTC(2030, 0, 1)),
        },
        customMetadata: { Name: "Größe", name: "two cases, two names", empty: "" },
        storageClass: "InfrequentAccess",
      } as const;
      await bucket.put("key", "value", given);
      const { httpMetadata, customMetadata, storageClass } = await mustHead(bucket, "key");
      assert.deepEqual({ ...httpMetadata }, given.httpMetadata);
      assert.deepEqual({ ...customMetadata }, given.customMetadata);
      assert.equal(storageClass, given.storageClass);
    });

    test("spec 2.2: key is the object's key", async () => {
      const { bucket } = await open();
      assert.equal((await bucket.put("a/b c", "value")).key, "a/b c");
      assert.equal((await putInParts(bucket, "d", ["value"])).key, "d");
    });

    test("spec 2.2: version is a random unique string tied to one specific upload of a key", async () => {
      const { bucket } = await open();
      const versions: string[] = [];
      for (let i = 0; i < 32; i++) {
        const { version } = await bucket.put("same key", "same value");
        versions.push(version);
        assert.equal((await mustHead(bucket, "same key")).version, version);
        assert.equal((await mustGet(bucket, "same key")).version, version);
      }
      versions.push((await bucket.put("other key", "same value")).version);
      versions.push((await putInParts(bucket, "same key", ["same value"])).version);
      versions.push((await putInParts(bucket, "same key", ["same value"])).version);
      assert.equal(new Set(versions).size, versions.length, "every version is unique");
      for (const version of versions) assert.match(version, /^[0-9a-f]{32}$/);
      const sorted = [...versions].sort();
      assert.notDeepEqual(versions, sorted, "versions are not sorted by time");
      assert.notDeepEqual(versions, sorted.reverse());
    });

    test("spec 2.2: a key that is deleted and put again gets a new version", async () => {
      const { bucket } = await open();
      const first = await bucket.put("key", "value");
      await bucket.delete("key");
      const second = await bucket.put("key", "value");
      assert.notEqual(second.version, first.version);
      assert.equal((await mustHead(bucket, "key")).version, second.version);
    });

    test("spec 2.2: size is the size of the object in bytes", async () => {
      const { bucket } = await open();
      for (const size of fewSizes) {
        assert.equal((await bucket.put("key", pattern(size))).size, size);
        assert.equal((await mustHead(bucket, "key")).size, size);
      }
      assert.equal((await bucket.put("key", "größer\u{1f600}")).size, 12);
      assert.equal((await bucket.put("key", null)).size, 0);
      assert.equal((await putInParts(bucket, "key", [pattern(70_000), pattern(3)])).size, 70_003);
      assert.equal((await mustGet(bucket, "key", { range: { offset: 7, length: 2 } })).size, 70_003);
    });

    test("spec 2.2: etag is the MD5 of a single put, and the multipart etag of a multipart upload", async () => {
      const { bucket } = await open();
      for (const size of fewSizes) {
        const { etag } = await bucket.put("key", pattern(size));
        assert.equal(etag, createHash("md5").update(pattern(size)).digest("hex"));
        assert.equal((await mustHead(bucket, "key")).etag, etag);
      }
      const one = await bucket.put("one", "value");
      assert.notEqual((await bucket.put("two", "other value")).etag, one.etag);
      const completed = await putInParts(bucket, "key", ["hello"]);
      assert.equal(completed.etag, "62109206880d38a4010a98e11243924a-1");
    });

    test("spec 2.2: httpEtag is the etag wrapped in quotes so that it can be returned as a header", async () => {
      const { bucket } = await open();
      const objects: StoreObject[] = [
        await bucket.put("single", "value"),
        await putInParts(bucket, "in parts", ["value"]),
        await mustHead(bucket, "single"),
        await mustGet(bucket, "in parts"),
        await mustList(bucket, "single"),
      ];
      for (const { etag, httpEtag } of objects) {
        assert.equal(httpEtag, `"${etag}"`);
        assert.equal(new Headers({ etag: httpEtag }).get("etag"), httpEtag);
      }
    });

    test("spec 2.2: uploaded is the time the object was uploaded, as a Date", async (t) => {
      const clock = stoppedClock();
      const { bucket } = await openBucket(implementation, t, { now: clock.now });
      const put = await bucket.put("key", "value");
      const time = clock.now();
      clock.advance(day);
      const found = [put, await mustHead(bucket, "key"), await mustGet(bucket, "key")];
      for (const { uploaded } of [...found, await mustList(bucket, "key")]) {
        assert.ok(uploaded instanceof Date);
        assert.equal(uploaded.getTime(), time);
      }
      assert.equal((await bucket.put("key", "value")).uploaded.getTime(), time + day);
      assert.equal((await putInParts(bucket, "key", ["value"])).uploaded.getTime(), time + day);
    });

    test("spec 2.2: uploaded is the current time when no clock is given", async () => {
      const { bucket } = await open();
      const before = Date.now();
      const { uploaded } = await bucket.put("key", "value");
      assert.ok(before <= uploaded.getTime() && uploaded.getTime() <= Date.now());
    });

    test("spec 2.2, spec 2.12: customMetadata is the user-defined metadata map given to put", async () => {
      const { bucket } = await open();
      const given: Record<string, string> = JSON.parse(
        '{"__proto__":"p","constructor":"c","":"","\u{1f600}":"x"}',
      );
      await bucket.put("key", "value", { customMetadata: given });
      const found = [
        await mustHead(bucket, "key"),
        await mustGet(bucket, "key"),
        await mustList(bucket, "key"),
      ];
      for (const { customMetadata } of found) {
        assert.deepEqual(new Map(Object.entries(customMetadata ?? {})), new Map(Object.entries(given)));
      }
      assert.deepEqual({ ...(await bucket.put("key", "value")).customMetadata }, {});
      assert.deepEqual({ ...(await mustHead(bucket, "key")).customMetadata }, {});
    });

    test("spec 2.2: range of a get result is the returned range of the object", async () => {
      const { bucket } = await open();
      const put = await bucket.put("key", "value");
      assert.deepEqual({ ...(await mustGet(bucket, "key")).range }, { offset: 0, length: 5 });
      const part = await mustGet(bucket, "key", { range: { offset: 1, length: 3 } });
      assert.deepEqual({ ...part.range }, { offset: 1, length: 3 });
      assert.equal(await part.text(), "alu");
      const completed = await putInParts(bucket, "in parts", ["value"]);
      const refusal = await bucket.get("key", { onlyIf: { etagMatches: "other" } });
      assert.ok(refusal !== null);
      const bodyless = [
        put,
        completed,
        refusal,
        await mustHead(bucket, "key"),
        await mustList(bucket, "key"),
      ];
      for (const object of bodyless) assert.equal(object.range, undefined);
    });

    test("spec 2.2: ssecKeyMd5 is the hex-encoded MD5 hash of the SSE-C key, present if a key was provided", async () => {
      const { bucket } = await open();
      const ssecKey = pattern(32, 9);
      const md5 = createHash("md5").update(ssecKey).digest("hex");
      const put = await bucket.put("sealed", "value", { ssecKey });
      const completed = await putInParts(bucket, "in parts", ["value"], { ssecKey });
      const found = [await mustHead(bucket, "sealed"), await mustGet(bucket, "in parts", { ssecKey })];
      for (const object of [put, completed, ...found, await mustList(bucket, "sealed")]) {
        assert.equal(object.ssecKeyMd5, md5);
      }
      const plain = [await bucket.put("plain", "value"), await putInParts(bucket, "plain too", ["value"])];
      for (const object of [...plain, await mustHead(bucket, "plain"), await mustList(bucket, "plain")]) {
        assert.equal(object.ssecKeyMd5, undefined);
      }
    });

    test("spec 2.2: ssecKeyMd5 identifies the SSE-C key that decrypts the object", async () => {
      const { bucket } = await open();
      const keys = [pattern(32, 1), pattern(32, 2), pattern(32, 3)];
      const byMd5 = new Map(keys.map((key) => [createHash("md5").update(key).digest("hex"), key]));
      await Promise.all(keys.map((ssecKey, i) => bucket.put(`${i}`, `value ${i}`, { ssecKey })));
      for (let i = 0; i < keys.length; i++) {
        const ssecKey = byMd5.get((await mustHead(bucket, `${i}`)).ssecKeyMd5 ?? "");
        assert.equal(await textOf(bucket, `${i}`, { ssecKey }), `value ${i}`);
      }
    });
  });
}
