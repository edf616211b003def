// Spec 2.4 and writeHttpMetadata of 2.2: the HTTP headers stored with an object.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { StoreHTTPMetadata } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";
import {
  contentOf,
  mustGet,
  mustHead,
  mustList,
  pattern,
  putInParts,
  sharedBucket,
  textOf,
  utf8,
} from "./support.ts";

const expiry = new Date(Date.UTC(2031, 1, 3, 4, 5, 6));

/** Each field's name, metadata with a value of the field, and the name and value of its header. */
const fields: readonly (readonly [keyof StoreHTTPMetadata, StoreHTTPMetadata, string, string])[] = [
  ["contentType", { contentType: "text/plain; charset=utf-8" }, "content-type", "text/plain; charset=utf-8"],
  ["contentLanguage", { contentLanguage: "en-GB" }, "content-language", "en-GB"],
  ["contentDisposition", { contentDisposition: "inline" }, "content-disposition", "inline"],
  ["contentEncoding", { contentEncoding: "gzip" }, "content-encoding", "gzip"],
  ["cacheControl", { cacheControl: "no-cache" }, "cache-control", "no-cache"],
  ["cacheExpiry", { cacheExpiry: expiry }, "expires", expiry.toUTCString()],
];

const everything: StoreHTTPMetadata = Object.assign({}, ...fields.map(([, value]) => value));
const everyHeader = fields.map(([, , header, value]): [string, string] => [header, value]);

function written(object: { writeHttpMetadata(headers: Headers): void }): Record<string, string> {
  const headers = new Headers();
  object.writeHttpMetadata(headers);
  return Object.fromEntries(headers);
}

export function httpMetadataSentences(implementation: Implementation): void {
  describe("HTTP metadata behaves as the spec states", () => {
    const open = sharedBucket(implementation);

    for (const [field, given, header, value] of fields) {
      test(`spec 2.4: ${field} has the value given to put and can be set without other fields`, async () => {
        const { bucket } = await open();
        const put = await bucket.put("key", "value", { httpMetadata: given });
        const completed = await putInParts(bucket, "in parts", ["value"], { httpMetadata: given });
        const found = [
          await mustHead(bucket, "key"),
          await mustGet(bucket, "key"),
          await mustList(bucket, "key"),
        ];
        for (const object of [put, completed, ...found, await mustHead(bucket, "in parts")]) {
          assert.deepEqual({ ...object.httpMetadata }, given);
        }
      });

      test(`spec 2.12: put with httpMetadata given as Headers stores ${header} as ${field}`, async () => {
        const { bucket } = await open();
        const httpMetadata = new Headers([
          [header, value],
          ["x-other", "ignored"],
        ]);
        const put = await bucket.put("key", "value", { httpMetadata });
        const completed = await putInParts(bucket, "in parts", ["value"], { httpMetadata });
        for (const object of [put, completed, await mustHead(bucket, "key")]) {
          assert.deepEqual({ ...object.httpMetadata }, given);
        }
      });

      test(`spec 2.2: writeHttpMetadata copies ${field} to the header ${header} and sets no other header`, async () => {
        const { bucket } = await open();
        await bucket.put("key", "value", { httpMetadata: given });
        assert.deepEqual(written(await mustHead(bucket, "key")), { [header]: value });
      });
    }

    test("spec 2.4: every HTTP metadata field is optional; an object may have none or all of them", async () => {
      const { bucket } = await open();
      for (const httpMetadata of [undefined, {}, new Headers()]) {
        const put = await bucket.put("key", "value", { httpMetadata });
        assert.deepEqual({ ...put.httpMetadata }, {});
        assert.deepEqual({ ...(await mustHead(bucket, "key")).httpMetadata }, {});
        assert.deepEqual(written(put), {});
      }
      await bucket.put("key", "value", { httpMetadata: everything });
      assert.deepEqual({ ...(await mustHead(bucket, "key")).httpMetadata }, everything);
      await bucket.put("key", "value", { httpMetadata: new Headers(everyHeader) });
      assert.deepEqual({ ...(await mustHead(bucket, "key")).httpMetadata }, everything);
    });

    test("spec 2.4: cacheExpiry is a Date", async () => {
      const { bucket } = await open();
      await bucket.put("key", "value", { httpMetadata: { cacheExpiry: expiry } });
      const cacheExpiry = (await mustHead(bucket, "key")).httpMetadata?.cacheExpiry;
      assert.ok(cacheExpiry instanceof Date);
      assert.equal(cacheExpiry.getTime(), expiry.getTime());
    });

    test("spec 2.4: an overwritten object does not keep the previous HTTP metadata", async () => {
      const { bucket } = await open();
      await bucket.put("key", "value", { httpMetadata: everything });
      await bucket.put("key", "value", { httpMetadata: { contentType: "text/new" } });
      assert.deepEqual({ ...(await mustHead(bucket, "key")).httpMetadata }, { contentType: "text/new" });
    });

    for (const [field, override] of fields) {
      test(`spec 2.4: ${field} can be overridden on get, and the result of get has the given value`, async () => {
        const { bucket } = await open();
        const stored = { contentType: "stored/type", cacheControl: "stored", cacheExpiry: new Date(0) };
        await bucket.put("key", "value", { httpMetadata: stored });
        const object = await mustGet(bucket, "key", { httpMetadata: override });
        assert.deepEqual({ ...object.httpMetadata }, { ...stored, ...override });
        assert.deepEqual({ ...(await mustHead(bucket, "key")).httpMetadata }, stored);
        assert.deepEqual({ ...(await mustGet(bucket, "key")).httpMetadata }, stored);
      });
    }

    test("spec 2.4: HTTP metadata overridden on get by Headers is returned, also by writeHttpMetadata", async () => {
      const { bucket } = await open();
      await bucket.put("key", "value", {
        httpMetadata: { contentType: "stored/type", cacheControl: "stored" },
      });
      const httpMetadata = new Headers({ "content-type": "given/type" });
      const object = await mustGet(bucket, "key", { httpMetadata });
      assert.deepEqual({ ...object.httpMetadata }, { contentType: "given/type", cacheControl: "stored" });
      assert.deepEqual(written(object), { "content-type": "given/type", "cache-control": "stored" });
      assert.equal(await object.text(), "value");
    });

    test("spec 2.2: writeHttpMetadata copies the object's httpMetadata into the given Headers object", async () => {
      const { bucket } = await open();
      const put = await bucket.put("key", "value", { httpMetadata: everything });
      const completed = await putInParts(bucket, "in parts", ["value"], { httpMetadata: everything });
      const found = [
        await mustHead(bucket, "key"),
        await mustGet(bucket, "key"),
        await mustList(bucket, "key"),
      ];
      for (const object of [put, completed, ...found]) {
        const headers = new Headers({ "x-mine": "kept", "content-type": "replaced/type" });
        assert.equal(object.writeHttpMetadata(headers), undefined);
        assert.deepEqual(
          Object.fromEntries(headers),
          Object.fromEntries([...everyHeader, ["x-mine", "kept"]]),
        );
      }
    });

    test("spec 2.2: writeHttpMetadata also works on a get result without a body", async () => {
      const { bucket } = await open();
      await bucket.put("key", "value", { httpMetadata: everything });
      const refusal = await bucket.get("key", { onlyIf: { etagMatches: "other" } });
      assert.ok(refusal !== null && !("body" in refusal));
      assert.deepEqual(written(refusal), Object.fromEntries(everyHeader));
    });

    test("spec 2.4: contentEncoding and the charset of contentType do not change the stored bytes", async () => {
      const { bucket } = await open();
      const value = pattern(5000);
      await bucket.put("key", value, { httpMetadata: { contentEncoding: "gzip" } });
      assert.deepEqual(await contentOf(bucket, "key"), value);
      await bucket.put("key", utf8("grün"), { httpMetadata: { contentType: "text/plain; charset=latin1" } });
      assert.equal(await textOf(bucket, "key"), "grün");
    });
  });
}
