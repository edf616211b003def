// Spec 2.7: onlyIf as a Headers object with conditional request headers.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Implementation } from "../../support/stores.ts";
import { isRefused, proceeds, sharedSubject } from "./conditions.ts";
import { day, mustHead, textOf, wrongArgument } from "./support.ts";

function httpDate(milliseconds: number): string {
  return new Date(milliseconds).toUTCString();
}

export function conditionHeaderSentences(implementation: Implementation): void {
  describe("conditional headers behave as the spec states", () => {
    const storedObject = sharedSubject(implementation);

    test("spec 2.7: If-Match is supported: the operation proceeds if one of the etags is the object's", async () => {
      for (const write of [
        (etag: string) => `"${etag}"`,
        (etag: string) => `"other", "${etag}"`,
        (etag: string) => `"a,b" , W/"weak","${etag}"`,
        () => "*",
      ]) {
        const subject = await storedObject();
        await proceeds(subject, new Headers({ "If-Match": write(subject.stored.etag) }));
      }
    });

    test("spec 2.7: If-Match is supported: the operation does not proceed if none of the etags is the object's", async () => {
      const subject = await storedObject();
      for (const value of ['"other"', '"a", "b"', `W/${subject.stored.httpEtag}`, '""']) {
        await isRefused(subject, new Headers({ "If-Match": value }));
      }
    });

    test("spec 2.7: If-None-Match is supported: the operation proceeds if none of the etags is the object's", async () => {
      for (const value of ['"other"', '"a", W/"b"', '""']) {
        await proceeds(await storedObject(), new Headers({ "If-None-Match": value }));
      }
    });

    test("spec 2.7: If-None-Match is supported: the operation does not proceed if one of the etags is the object's", async () => {
      const subject = await storedObject();
      const { httpEtag } = subject.stored;
      for (const value of [httpEtag, `"other", ${httpEtag}`, `W/${httpEtag}`, "*"]) {
        await isRefused(subject, new Headers({ "If-None-Match": value }));
      }
    });

    test("spec 2.7: If-Modified-Since is supported: the operation proceeds if the object is newer", async () => {
      for (const earlier of [1000, day]) {
        const subject = await storedObject();
        await proceeds(subject, new Headers({ "If-Modified-Since": httpDate(subject.time - earlier) }));
      }
    });

    test("spec 2.7: If-Modified-Since is supported: the operation does not proceed if the object is not newer, in whole seconds", async () => {
      const subject = await storedObject();
      for (const later of [0, 1000, day]) {
        await isRefused(subject, new Headers({ "If-Modified-Since": httpDate(subject.time + later) }));
      }
    });

    test("spec 2.7: If-Unmodified-Since is supported: the operation proceeds if the object is not newer, in whole seconds", async () => {
      for (const later of [0, 1000, day]) {
        const subject = await storedObject();
        await proceeds(subject, new Headers({ "If-Unmodified-Since": httpDate(subject.time + later) }));
      }
    });

    test("spec 2.7: If-Unmodified-Since is supported: the operation does not proceed if the object is newer", async () => {
      const subject = await storedObject();
      for (const earlier of [1000, day]) {
        await isRefused(subject, new Headers({ "If-Unmodified-Since": httpDate(subject.time - earlier) }));
      }
    });

    test("spec 2.7: conditional headers are combined as in RFC 7232", async () => {
      const first = await storedObject();
      const { httpEtag } = first.stored;
      const old = httpDate(first.time - day);
      const later = httpDate(first.time + day);
      await isRefused(first, new Headers({ "If-Match": httpEtag, "If-None-Match": httpEtag }));
      await isRefused(first, new Headers({ "If-Match": '"other"', "If-Unmodified-Since": later }));
      await isRefused(first, new Headers({ "If-None-Match": httpEtag, "If-Modified-Since": old }));
      await isRefused(first, new Headers({ "If-Match": httpEtag, "If-Modified-Since": later }));
      await proceeds(first, new Headers({ "If-Match": httpEtag, "If-Unmodified-Since": old }));
      const second = await storedObject();
      await proceeds(second, new Headers({ "If-None-Match": '"other"', "If-Modified-Since": later }));
    });

    test("spec 2.7: If-Range is not supported and is ignored", async () => {
      for (const value of ['"other"', httpDate(0)]) {
        const subject = await storedObject();
        const { bucket, stored } = subject;
        const onlyIf = new Headers({ "If-Range": value });
        const object = await bucket.get("key", { onlyIf, range: { offset: 1, length: 2 } });
        assert.ok(object !== null && "body" in object);
        assert.equal(await object.text(), "al");
        await isRefused(subject, new Headers({ "If-Range": stored.httpEtag, "If-Match": '"other"' }));
        await proceeds(subject, onlyIf);
      }
    });

    test("spec 2.7: headers that are not conditions are ignored", async () => {
      const headers = {
        accept: "*/*",
        "user-agent": "test",
        "cache-control": "no-cache",
        range: "bytes=0-0",
      };
      await proceeds(await storedObject(), new Headers(headers));
    });

    test("spec 2.7: a date that cannot be parsed is ignored, as in RFC 7232", async () => {
      for (const name of ["If-Modified-Since", "If-Unmodified-Since"]) {
        await proceeds(await storedObject(), new Headers({ [name]: "not a date" }));
      }
    });

    test("spec 2.7: an etag list that cannot be parsed is an invalid argument", async () => {
      const { bucket, stored } = await storedObject();
      for (const name of ["If-Match", "If-None-Match"]) {
        const message = new RegExp(`^Invalid ETag in ${name.toLowerCase()} header`);
        const onlyIf = new Headers({ [name]: stored.etag });
        await wrongArgument(bucket.get("key", { onlyIf }), TypeError, message);
        await wrongArgument(bucket.put("key", "other", { onlyIf }), TypeError, message);
      }
      assert.equal(await textOf(bucket, "key"), "value");
    });

    test("spec 2.7: put with If-None-Match: * creates an object and never replaces one", async () => {
      const { bucket } = await storedObject();
      await bucket.delete("key");
      const onlyIf = new Headers({ "If-None-Match": "*" });
      const created = await bucket.put("key", "value", { onlyIf });
      assert.ok(created !== null);
      assert.equal(await bucket.put("key", "other", { onlyIf }), null);
      assert.equal((await mustHead(bucket, "key")).version, created.version);
    });
  });
}
