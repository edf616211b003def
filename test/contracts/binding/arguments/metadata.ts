// Tests "Arguments" of binding.md: names and values of customMetadata, and formats of SSE-C keys.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Implementation } from "../../../support/stores.ts";
import { furnish, loose, looseUpload, openBucket, secret } from "../scene.ts";

export function metadataArgumentsContract(implementation: Implementation): void {
  describe("customMetadata values are converted to strings, and the strings are stored unchanged", () => {
    test("customMetadata contains the object's own enumerable properties, with values converted by ToString", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const given = Object.create({ inherited: "no" }, { hidden: { value: "no", enumerable: false } });
      Object.assign(given, {
        number: 1,
        none: null,
        nothing: undefined,
        yes: true,
        list: [1, 2],
        "": "empty",
      });
      given[Symbol("symbol")] = "no";
      const expected = {
        number: "1",
        none: "null",
        nothing: "undefined",
        yes: "true",
        list: "1,2",
        "": "empty",
      };
      await loose(bucket).put("key", "value", { customMetadata: given });
      assert.deepEqual({ ...(await bucket.head("key"))?.customMetadata }, expected);
      const upload = await loose(bucket).createMultipartUpload("other", { customMetadata: given });
      await upload.complete([await upload.uploadPart(1, "hello")]);
      assert.deepEqual({ ...(await bucket.head("other"))?.customMetadata }, expected);
    });

    test("a customMetadata value that cannot be converted to a string is refused with a TypeError", async (t) => {
      const scene = await furnish(t, implementation);
      for (const value of [Symbol("a"), Object.create(null)]) {
        const customMetadata = { name: value };
        await scene.refusesArgument({}, () => scene.loose.put("kept", "value", { customMetadata }));
        await scene.refusesArgument({}, () => scene.loose.createMultipartUpload("kept", { customMetadata }));
      }
    });

    test("customMetadata accepts `__proto__` and similar names as ordinary names", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const text = '{"__proto__":"p","constructor":"c","hasOwnProperty":"h","toString":"t","prototype":"x"}';
      const expected = Object.entries(JSON.parse(text) as Record<string, string>).sort();
      assert.equal(expected.length, 5);
      const put = await bucket.put("key", "value", { customMetadata: JSON.parse(text) });
      const [listed] = (await bucket.list({ include: ["customMetadata"] })).objects;
      const upload = await bucket.createMultipartUpload("other", { customMetadata: JSON.parse(text) });
      const completed = await upload.complete([await upload.uploadPart(1, "hello")]);
      for (const object of [put, await bucket.head("key"), await bucket.get("key"), listed, completed]) {
        assert.deepEqual(Object.entries(object?.customMetadata ?? {}).sort(), expected);
      }
    });

    test("customMetadata stores any text unchanged", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const customMetadata = {
        Case: "Kept",
        "naïve name": "日本語 😀",
        "a\tb": "line\nbreak\0nul",
        " ": " ",
      };
      await bucket.put("key", "value", { customMetadata });
      assert.deepEqual({ ...(await bucket.head("key"))?.customMetadata }, customMetadata);
    });
  });

  describe("the format and length of an SSE-C key are validated", () => {
    const bytes = Buffer.from(secret, "hex");
    test("an SSE-C key can be 64 upper- or lowercase hex digits, or 32 bytes", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const framed = new Uint8Array(40).fill(7);
      framed.set(bytes, 4);
      const forms = [
        secret,
        secret.toUpperCase(),
        `${secret.slice(0, 32).toUpperCase()}${secret.slice(32)}`,
        new Uint8Array(bytes).buffer,
        new Uint8Array(bytes),
        framed.subarray(4, 36),
        new DataView(framed.buffer, 4, 32),
      ];
      for (const writing of forms) {
        await bucket.put("key", "value", { ssecKey: writing });
        for (const ssecKey of forms)
          assert.equal(await (await bucket.get("key", { ssecKey }))?.text(), "value");
      }
    });

    test("an SSE-C key of the wrong format or length is refused with a TypeError that states the fault", async (t) => {
      const scene = await furnish(t, implementation);
      const format = /^SSE-C Key has invalid format$/;
      const length = /^SSE-C Key must be 32 bytes in length$/;
      const either = /^SSE-C Key (has invalid format|must be 32 bytes in length)$/;
      const wrong: readonly (readonly [key: unknown, message: RegExp])[] = [
        ["z".repeat(64), format],
        [`${secret.slice(0, 62)}g0`, format],
        [`0x${secret.slice(2)}`, format],
        ["", either],
        [secret.slice(2), either],
        [`${secret}00`, either],
        [new Uint8Array(31), length],
        [new Uint8Array(33).buffer, length],
        [new ArrayBuffer(0), length],
        [new DataView(new ArrayBuffer(64)), length],
      ];
      for (const [ssecKey, message] of wrong) {
        await scene.refusesArgument({ message }, () => scene.loose.get("sealed", { ssecKey }));
        await scene.refusesArgument({ message }, () => scene.loose.put("sealed", "value", { ssecKey }));
        await scene.refusesArgument({ message }, () => scene.loose.createMultipartUpload("new", { ssecKey }));
        await scene.refusesArgument({ message }, () =>
          looseUpload(scene.upload).uploadPart(1, "value", { ssecKey }),
        );
      }
      for (const ssecKey of [42, true, {}, Symbol("key")]) {
        await scene.refusesArgument({}, () => scene.loose.put("sealed", "value", { ssecKey }));
      }
      await scene.completesOngoing();
    });
  });
}
