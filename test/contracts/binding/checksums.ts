// Tests "put" of binding.md: checksums are verified, stored and returned.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { StoreObject } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";
import { digest, furnish, openBucket, watchedStream } from "./scene.ts";

const algorithms = [
  ["md5", "MD5", 16],
  ["sha1", "SHA-1", 20],
  ["sha256", "SHA-256", 32],
  ["sha384", "SHA-384", 48],
  ["sha512", "SHA-512", 64],
] as const;

export function checksumsContract(implementation: Implementation): void {
  describe("checksums of a put are verified, stored and returned", () => {
    test("checksums of an object stored with put contain its MD5 and the checksum given to put", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      for (const value of ["", "value", "v".repeat(10_000)]) {
        await bucket.put("key", value);
        await each((object) =>
          assert.deepEqual({ ...object.checksums.toJSON() }, { md5: digest("md5", value) }),
        );
        for (const [algorithm] of algorithms) {
          const given = digest(algorithm, value);
          const stored = await bucket.put("key", value, { [algorithm]: given });
          const expected = { md5: digest("md5", value), [algorithm]: given };
          assert.deepEqual({ ...stored.checksums.toJSON() }, expected);
          await each((object) => {
            assert.deepEqual({ ...object.checksums.toJSON() }, expected);
            for (const [name, , length] of algorithms) {
              const kept = object.checksums[name];
              if (name === "md5" || name === algorithm) {
                assert.ok(kept instanceof ArrayBuffer);
                assert.equal(kept.byteLength, length);
                assert.equal(Buffer.from(kept).toString("hex"), digest(name, value));
              } else assert.equal(kept, undefined);
            }
          });
        }
      }

      async function each(check: (object: StoreObject) => void) {
        const [listed] = (await bucket.list()).objects;
        const got = await bucket.get("key");
        for (const object of [await bucket.head("key"), got, listed]) {
          assert.ok(object);
          check(object);
        }
      }
    });

    test("JSON.stringify writes checksums as lowercase hex", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const sha1 = digest("sha1", "value").toUpperCase();
      const { checksums } = await bucket.put("key", "value", { sha1 });
      assert.deepEqual(JSON.parse(JSON.stringify(checksums)), {
        md5: digest("md5", "value"),
        sha1: digest("sha1", "value"),
      });
    });

    test("a checksum can be upper- or lowercase hex, or bytes of the right length", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      for (const [algorithm] of algorithms) {
        const hex = digest(algorithm, "value");
        const bytes = new Uint8Array(Buffer.from(hex, "hex"));
        const framed = new Uint8Array(bytes.length + 8);
        framed.set(bytes, 3);
        for (const given of [
          hex,
          hex.toUpperCase(),
          bytes.buffer,
          bytes,
          framed.subarray(3, 3 + bytes.length),
          new DataView(framed.buffer, 3, bytes.length),
        ]) {
          const bodies = ["value", watchedStream(["va", "lue"]).stream, new Blob(["value"])];
          for (const body of bodies) {
            const stored = await bucket.put("key", body, { [algorithm]: given });
            assert.equal(stored.checksums.toJSON()[algorithm], hex);
          }
        }
      }
    });

    test("a put with two checksums is refused with a TypeError that states the reason", async (t) => {
      const scene = await furnish(t, implementation);
      const message = /^You cannot specify multiple hashing algorithms\.$/;
      for (const [first] of algorithms) {
        for (const [second] of algorithms) {
          if (first === second) continue;
          const options = { [first]: digest(first, "value"), [second]: digest(second, "value") };
          await scene.refusesArgument({ message }, () => scene.bucket.put("kept", "value", options));
        }
      }
    });

    test("a checksum of the wrong length is refused with a TypeError that states the expected length", async (t) => {
      const scene = await furnish(t, implementation);
      for (const [algorithm, , length] of algorithms) {
        const hex = digest(algorithm, "value");
        const bytes = Buffer.from(hex, "hex");
        const message = new RegExp(`\\b${length}\\b`);
        for (const wrong of [
          hex.slice(2),
          hex.slice(1),
          `${hex}00`,
          "",
          "z".repeat(length * 2),
          new Uint8Array(bytes.subarray(1)),
          new Uint8Array(length + 1).buffer,
          new ArrayBuffer(0),
        ]) {
          const options = { [algorithm]: wrong };
          await scene.refusesArgument({ message }, () => scene.bucket.put("kept", "value", options));
        }
      }
    });

    test("the error of a checksum mismatch has three lines: algorithm, given value and actual value", async (t) => {
      const scene = await furnish(t, implementation);
      for (const [algorithm, name] of algorithms) {
        for (const value of ["value", "v".repeat(10_000)]) {
          const provided = digest(algorithm, "other");
          const error = await scene.refuses({ code: 10037, action: "put" }, () =>
            scene.bucket.put("kept", value, { [algorithm]: provided.toUpperCase() }),
          );
          const lines = error.message.split("\n");
          assert.equal(lines.length, 3);
          const [first = "", second = "", third = ""] = lines;
          assert.ok(first.endsWith(`${name} checksum you specified did not match what we received.`), first);
          assert.ok(second.toLowerCase().includes(provided), second);
          assert.ok(third.includes(digest(algorithm, value)), third);
        }
      }
    });
  });
}
