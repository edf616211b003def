// Tests "Errors" of binding.md: the fields of errors, and that a failed put cancels its stream.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FixedLengthStream, StoreError } from "../../../../src/index.ts";
import type { Implementation } from "../../../support/stores.ts";
import {
  furnish,
  isArgumentError,
  loose,
  looseUpload,
  openBucket,
  otherSecret,
  rejection,
  rejectsArgument,
  rejectsWith,
  secret,
  textOf,
  watchedStream,
} from "../scene.ts";

export function errorsContract(implementation: Implementation): void {
  describe("errors have documented types, codes and messages", () => {
    test("a StoreError has a name, a code and an action, and its message contains action, text and code", async (t) => {
      const store = await implementation.open(t);
      const bucket = store.bucket("no-such-bucket");
      const upload = bucket.resumeMultipartUpload("key", "id");
      const acts: Record<string, () => Promise<unknown>> = {
        head: () => bucket.head("key"),
        get: () => bucket.get("key"),
        put: () => bucket.put("key", "value"),
        delete: () => bucket.delete("key"),
        list: () => bucket.list(),
        createMultipartUpload: () => bucket.createMultipartUpload("key"),
        uploadPart: () => upload.uploadPart(1, "value"),
        completeMultipartUpload: () => upload.complete([{ partNumber: 1, etag: "0".repeat(32) }]),
        abortMultipartUpload: () => upload.abort(),
      };
      for (const [action, act] of Object.entries(acts)) {
        const error = await rejectsWith(
          { code: 10006, action, message: "The specified bucket does not exist." },
          act,
        );
        assert.equal(Object.getPrototypeOf(Object.getPrototypeOf(error)), Error.prototype);
        assert.equal(String(error), `StoreError: ${action}: The specified bucket does not exist. (10006)`);
        assert.ok(error.stack?.includes(error.message));
      }
    });

    test("an invalid argument is refused with a TypeError or RangeError without action prefix and code", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("key", "value");
      await rejectsArgument({}, () => loose(bucket).put("key", 42));
      await rejectsArgument({ type: "RangeError" }, () => bucket.get("key", { range: { offset: -1 } }));
    });

    test("every method that returns a promise rejects it and never throws synchronously", async (t) => {
      const scene = await furnish(t, implementation);
      const { loose } = scene;
      const upload = looseUpload(scene.upload);
      const trap = {
        get onlyIf(): never {
          throw new SyntaxError("a getter that throws");
        },
        get include(): never {
          throw new SyntaxError("a getter that throws");
        },
        get customMetadata(): never {
          throw new SyntaxError("a getter that throws");
        },
        get ssecKey(): never {
          throw new SyntaxError("a getter that throws");
        },
        get prefix(): never {
          throw new SyntaxError("a getter that throws");
        },
      };
      const acts = [
        () => loose.head(Symbol("key")),
        () => loose.get(Symbol("key")),
        () => loose.put(Symbol("key"), "value"),
        () => loose.delete(Symbol("key")),
        () => loose.delete(["kept", Symbol("key")]),
        () => loose.list("options"),
        () => loose.createMultipartUpload(Symbol("key")),
        () => upload.uploadPart(Symbol("number"), "value"),
        () => upload.uploadPart(1, Symbol("value")),
        () => upload.complete(Symbol("parts")),
        () => upload.complete([Symbol("part")]),
      ];
      for (const act of acts) await scene.refusesArgument({}, act);
      const trapped = [
        () => loose.get("kept", trap),
        () => loose.put("kept", "value", trap),
        () => loose.list(trap),
        () => loose.createMultipartUpload("kept", trap),
        () => upload.uploadPart(1, "value", trap),
      ];
      for (const act of trapped) {
        assert.ok((await scene.unchangedBy(() => rejection(act))) instanceof SyntaxError);
      }
      await scene.completesOngoing();
    });

    test("resumeMultipartUpload and writeHttpMetadata throw a TypeError synchronously for invalid arguments", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const object = await bucket.put("key", "value");
      const write = object.writeHttpMetadata.bind(object) as (...args: unknown[]) => void;
      for (const act of [
        () => loose(bucket).resumeMultipartUpload(Symbol("key"), "id"),
        () => loose(bucket).resumeMultipartUpload("key"),
        () => write(),
        () => write("headers"),
      ]) {
        assert.throws(act, (error) => isArgumentError({}, error) instanceof TypeError);
      }
    });

    test("a put whose stream fails stores nothing and keeps the previous object", async (t) => {
      const scene = await furnish(t, implementation);
      for (const chunks of [0, 1, 3]) {
        const fault = new Error("the sender went away");
        let sent = 0;
        const stream = new ReadableStream<Uint8Array>({
          pull(controller) {
            if (sent++ < chunks) controller.enqueue(new Uint8Array(5000));
            else controller.error(fault);
          },
        });
        const error = await scene.unchangedBy(() => rejection(() => scene.bucket.put("kept", stream)));
        assert.equal(error, fault);
      }
      const stream = new ReadableStream({ start: (controller) => controller.error(new Error("gone")) });
      await scene.unchangedBy(() => rejection(() => scene.upload.uploadPart(1, stream)));
      await scene.completesOngoing();
    });

    test("a put whose stream yields something other than bytes stores nothing and cancels the stream", async (t) => {
      const scene = await furnish(t, implementation);
      for (const chunk of [42, { length: 3 }, null]) {
        let cancelled = false;
        const stream = new ReadableStream<unknown>({
          start: (controller) => controller.enqueue(chunk),
          cancel() {
            cancelled = true;
          },
        });
        await scene.refusesArgument({}, () => scene.bucket.put("kept", stream));
        assert.equal(cancelled, true);
      }
      await scene.completesOngoing();
    });

    test("a put of a stream that is locked to a reader is refused with a TypeError", async (t) => {
      const scene = await furnish(t, implementation);
      const locked = watchedStream().stream;
      locked.getReader();
      await scene.refusesArgument({}, () => scene.bucket.put("kept", locked));
      await scene.refusesArgument({}, () => scene.upload.uploadPart(1, locked));
      await scene.completesOngoing();
    });
  });

  describe("a put that fails before its stream was consumed cancels the stream", () => {
    const tooLong = "k".repeat(1025);
    const md5 = "0".repeat(32);
    const faults: readonly (readonly [why: string, key: unknown, options: unknown])[] = [
      ["the key is too long", tooLong, {}],
      ["the key is a Symbol", Symbol("key"), {}],
      ["the options are no object", "kept", "options"],
      ["the storage class is unknown", "kept", { storageClass: "Glacier" }],
      ["the metadata is too large", "kept", { customMetadata: { a: "b".repeat(8192) } }],
      ["the metadata is no object", "kept", { customMetadata: "a=b" }],
      ["a metadata value has a control character", "kept", { httpMetadata: { contentType: "a\nb" } }],
      ["two checksums are given", "kept", { md5, sha1: "0".repeat(40) }],
      ["the checksum has a wrong length", "kept", { md5: "00" }],
      ["the SSE-C key has a wrong length", "kept", { ssecKey: new Uint8Array(31) }],
      ["the condition has a quoted etag", "kept", { onlyIf: { etagMatches: '"quoted"' } }],
      ["the condition has a date that is none", "kept", { onlyIf: { uploadedBefore: "yesterday" } }],
    ];
    test("a put with any invalid key or option cancels its stream", async (t) => {
      const scene = await furnish(t, implementation);
      for (const [why, key, options] of faults) {
        const watched = watchedStream();
        await scene.unchangedBy(() => rejection(() => scene.loose.put(key, watched.stream, options)));
        assert.equal(await watched.cancelled(), true, why);
        assert.equal(watched.pulls(), 0, why);
      }
    });

    test("a put to a missing bucket cancels its stream", async (t) => {
      const store = await implementation.open(t);
      const watched = watchedStream();
      await rejectsWith({ code: 10006, action: "put" }, () =>
        store.bucket("no-such-bucket").put("key", watched.stream),
      );
      assert.equal(await watched.cancelled(), true);
    });

    test("a put refused by its condition reads its stream to the end or cancels it", async (t) => {
      const scene = await furnish(t, implementation);
      const watched = watchedStream(["one", "two"]);
      const refused = await scene.unchangedBy(() =>
        scene.bucket.put("kept", watched.stream, { onlyIf: { etagDoesNotMatch: "*" } }),
      );
      assert.equal(refused, null);
      assert.ok((await watched.cancelled()) || watched.ended());
    });

    test("a stream that put cancels is cancelled with the error as reason", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      let reason: unknown;
      const stream = new ReadableStream({
        cancel(given) {
          reason = given;
        },
      });
      const error = await rejection(() => bucket.put(tooLong, stream));
      assert.ok(error instanceof StoreError);
      assert.ok(reason instanceof Error);
      assert.match(reason.message, /The specified object name is not valid\./);
    });
  });

  describe("an uploadPart that fails before its stream was consumed cancels the stream", () => {
    test("an uploadPart that fails for any reason cancels its stream", async (t) => {
      const scene = await furnish(t, implementation);
      const { bucket } = scene;
      const sealed = await bucket.createMultipartUpload("sealed-upload", { ssecKey: secret });
      const unknown = bucket.resumeMultipartUpload("ongoing", "no-such-upload");
      const otherKey = bucket.resumeMultipartUpload("other", scene.upload.uploadId);
      const faults: readonly (readonly [why: string, act: (stream: ReadableStream) => Promise<unknown>])[] = [
        ["part number 0", (stream) => scene.upload.uploadPart(0, stream)],
        ["part number 10001", (stream) => scene.upload.uploadPart(10_001, stream)],
        ["options are no object", (stream) => looseUpload(scene.upload).uploadPart(1, stream, "options")],
        ["unknown upload", (stream) => unknown.uploadPart(1, stream)],
        ["another key", (stream) => otherKey.uploadPart(1, stream)],
        ["SSE-C key missing", (stream) => sealed.uploadPart(1, stream)],
        ["SSE-C key wrong", (stream) => sealed.uploadPart(1, stream, { ssecKey: otherSecret })],
        ["SSE-C key malformed", (stream) => sealed.uploadPart(1, stream, { ssecKey: "zz" })],
        ["SSE-C key not applicable", (stream) => scene.upload.uploadPart(1, stream, { ssecKey: secret })],
      ];
      for (const [why, act] of faults) {
        const watched = watchedStream();
        await scene.unchangedBy(() => rejection(() => act(watched.stream)));
        assert.equal(await watched.cancelled(), true, why);
        assert.equal(watched.pulls(), 0, why);
      }
      await scene.completesOngoing();
    });
  });

  describe("a FixedLengthStream is stored only if its length is as declared", () => {
    test("a FixedLengthStream body of the declared length is stored", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      for (const value of ["", "value", "v".repeat(10_000)]) {
        const { readable, writable } = new FixedLengthStream(value.length);
        const writer = writable.getWriter();
        const sent = Promise.all([writer.write(Buffer.from(value)), writer.close()]);
        assert.equal((await bucket.put("key", readable)).size, value.length);
        await sent;
        assert.equal(await textOf(bucket, "key"), value);
      }
    });

    test("a FixedLengthStream body longer than declared is refused", async (t) => {
      const scene = await furnish(t, implementation);
      const { readable, writable } = new FixedLengthStream(3);
      const writer = writable.getWriter();
      const sent = Promise.allSettled([writer.write(Buffer.from("value")), writer.close()]);
      await scene.unchangedBy(() => rejection(() => scene.bucket.put("kept", readable)));
      assert.equal((await sent)[0].status, "rejected");
    });
  });
}
