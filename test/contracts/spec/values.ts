// Spec 4: every type of value that put and uploadPart accept.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FixedLengthStream, type StorePartValue } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";
import {
  arrayBufferOf,
  assertBytes,
  contentOf,
  fewSizes,
  knownLength,
  mustHead,
  pattern,
  putInParts,
  refused,
  sharedBucket,
  textOf,
  unknownLength,
  utf8,
  wrongArgument,
} from "./support.ts";

/** A type of value and a function that creates it. The number of bytes is a multiple of eight. */
type Kind = readonly [name: string, make: (bytes: Uint8Array) => StorePartValue];

/** Puts bytes in the middle of a larger buffer, so that an ignored byteOffset is detected. */
function embedded(bytes: Uint8Array): { buffer: ArrayBuffer; offset: number; length: number } {
  const buffer = arrayBufferOf(new Uint8Array(bytes.byteLength + 48).fill(0xaa));
  new Uint8Array(buffer, 16).set(bytes);
  return { buffer, offset: 16, length: bytes.byteLength };
}

function view<T>(construct: new (buffer: ArrayBuffer, offset: number, length: number) => T, width: number) {
  return (bytes: Uint8Array): T => {
    const { buffer, offset, length } = embedded(bytes);
    return new construct(buffer, offset, length / width);
  };
}

const kinds: readonly Kind[] = [
  ["a ReadableStream of unknown length", (bytes) => unknownLength(bytes)],
  ["a ReadableStream of unknown length in tiny chunks", (bytes) => unknownLength(bytes.slice(0, 4000), 7)],
  ["a ReadableStream of known length", (bytes) => knownLength(bytes)],
  ["a ReadableStream of bytes from a Blob", (bytes) => new Blob([bytes]).stream()],
  ["a ReadableStream of views into larger buffers", (bytes) => subarrays(bytes)],
  ["an ArrayBuffer", (bytes) => arrayBufferOf(bytes)],
  ["a Uint8Array", (bytes) => bytes],
  ["a Uint8Array with a byteOffset", view(Uint8Array, 1)],
  ["a Uint8ClampedArray", view(Uint8ClampedArray, 1)],
  ["an Int8Array", view(Int8Array, 1)],
  ["an Int16Array", view(Int16Array, 2)],
  ["a Uint16Array", view(Uint16Array, 2)],
  ["an Int32Array", view(Int32Array, 4)],
  ["a Uint32Array", view(Uint32Array, 4)],
  ["a Float32Array", view(Float32Array, 4)],
  ["a Float64Array", view(Float64Array, 8)],
  ["a BigInt64Array", view(BigInt64Array, 8)],
  ["a BigUint64Array", view(BigUint64Array, 8)],
  ["a DataView", view(DataView, 1)],
  ["a Node Buffer", (bytes) => Buffer.from(bytes)],
  [
    "a slice of a Node Buffer",
    (bytes) => Buffer.concat([Buffer.alloc(11), bytes, Buffer.alloc(5)]).subarray(11, -5),
  ],
  ["a Blob", (bytes) => new Blob([bytes.slice(0, 5), bytes.slice(5)])],
  ["a slice of a Blob", (bytes) => new Blob(["front", bytes, "back"]).slice(5, 5 + bytes.byteLength)],
];

function subarrays(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.byteLength) return controller.close();
      controller.enqueue(bytes.subarray(at, at + 30_011));
      at += 30_011;
    },
  });
}

/** Returns the expected stored bytes: a stream in tiny chunks has only the first 4,000 bytes. */
function expected(name: string, bytes: Uint8Array): Uint8Array {
  return name.includes("tiny chunks") ? bytes.slice(0, 4000) : bytes;
}

export function valueSentences(implementation: Implementation): void {
  describe("values behave as the spec states", () => {
    const open = sharedBucket(implementation);

    for (const [name, make] of kinds) {
      test(`spec 4: put accepts ${name}`, async () => {
        const { bucket } = await open();
        for (const size of [0, 8, 4096, 4104, 300_008]) {
          const bytes = expected(name, pattern(size));
          const put = await bucket.put("key", make(pattern(size)));
          assert.equal(put.size, bytes.byteLength);
          assertBytes(await contentOf(bucket, "key"), bytes);
        }
      });

      test(`spec 4: uploadPart accepts ${name}`, async () => {
        const { bucket } = await open();
        const [first, last] = [pattern(100_008, 1), pattern(2008, 2)];
        const object = await putInParts(bucket, "key", [make(first), make(last)]);
        const bytes = new Uint8Array(Buffer.concat([expected(name, first), expected(name, last)]));
        assert.equal(object.size, bytes.byteLength);
        assertBytes(await contentOf(bucket, "key"), bytes);
      });
    }

    test("spec 4: put accepts a string, and stores it as UTF-8", async () => {
      const { bucket } = await open();
      for (const text of ["", "value", "ä€\u{1f600}", "€".repeat(50_000)]) {
        await bucket.put("key", text);
        assertBytes(await contentOf(bucket, "key"), utf8(text));
      }
    });

    test("spec 4: uploadPart accepts a string, and stores it as UTF-8", async () => {
      const { bucket } = await open();
      await putInParts(bucket, "key", ["ä€", "€"]);
      assertBytes(await contentOf(bucket, "key"), utf8("ä€€"));
    });

    test("spec 4: put accepts null, and stores an empty value", async () => {
      const { bucket } = await open();
      await bucket.put("key", "something");
      const object = await bucket.put("key", null, { customMetadata: { kept: "yes" } });
      assert.equal(object.size, 0);
      assert.equal(await textOf(bucket, "key"), "");
      assert.deepEqual({ ...(await mustHead(bucket, "key")).customMetadata }, { kept: "yes" });
    });

    test("spec 4: uploadPart refuses null", async () => {
      const { bucket } = await open();
      const upload = await bucket.createMultipartUpload("key");
      // @ts-expect-error: only put takes null.
      await wrongArgument(upload.uploadPart(1, null), TypeError);
    });

    test("spec 4: put and uploadPart refuse unsupported types of values and store nothing", async () => {
      const { bucket } = await open();
      const upload = await bucket.createMultipartUpload("key");
      for (const value of [undefined, 5, true, {}, [1, 2], new Date(), Symbol("s"), () => "value"]) {
        await wrongArgument(bucket.put("key", value as unknown as string), TypeError);
        await wrongArgument(upload.uploadPart(1, value as unknown as string), TypeError);
      }
      assert.equal(await bucket.head("key"), null);
      await refused(upload.complete([{ partNumber: 1, etag: "x" }]), "completeMultipartUpload", 10025);
    });

    test("spec 4: a put whose stream fails stores nothing, and the previous object stays", async () => {
      const { bucket } = await open();
      const before = await bucket.put("key", "before");
      for (const size of fewSizes) {
        const failing = new ReadableStream<Uint8Array>({
          start: (controller) => controller.enqueue(pattern(size + 1)),
          pull: (controller) => controller.error(new Error("the sender is gone")),
        });
        await assert.rejects(bucket.put("key", failing), /the sender is gone/);
        assert.equal((await mustHead(bucket, "key")).version, before.version);
      }
      assert.equal(await textOf(bucket, "key"), "before");
    });

    test("spec 4: a put whose stream is shorter or longer than its known length stores nothing", async () => {
      const { bucket } = await open();
      for (const [declared, sent] of [
        [10, 9],
        [10, 11],
        [100_000, 99_999],
        [100_000, 100_001],
        [1, 0],
        [0, 1],
      ] as const) {
        const fixed = new FixedLengthStream(declared);
        const writing = unknownLength(pattern(sent)).pipeTo(fixed.writable);
        const [put] = await Promise.allSettled([bucket.put("key", fixed.readable), writing]);
        assert.equal(put.status, "rejected", `${sent} bytes sent as ${declared}`);
        assert.equal(await bucket.head("key"), null);
      }
    });
  });
}
