// Spec 2.3: the members of a StoreObjectBody.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { StoreBucket, StoreObjectBody } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";
import {
  assertBytes,
  fewSizes,
  fieldsOf,
  mustGet,
  pattern,
  putInParts,
  sharedBucket,
  sizes,
  wrongArgument,
} from "./support.ts";

/** Every method that consumes a body, with its name. */
const consumers: readonly (readonly [string, (object: StoreObjectBody) => Promise<unknown>])[] = [
  ["arrayBuffer()", (object) => object.arrayBuffer()],
  ["text()", (object) => object.text()],
  ["json()", (object) => object.json()],
  ["blob()", (object) => object.blob()],
  ["body", (object) => drain(object.body)],
];

async function drain(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return new Uint8Array(Buffer.concat(chunks));
}

/** Runs a check on the same value stored by a single put and by a multipart upload. */
async function eachMaking(
  bucket: StoreBucket,
  value: Uint8Array,
  check: (key: string) => Promise<void>,
): Promise<void> {
  await bucket.put("single", value);
  await check("single");
  const half = Math.ceil(value.byteLength / 2);
  await putInParts(bucket, "in parts", [value.slice(0, half), value.slice(half)]);
  await check("in parts");
}

export function bodySentences(implementation: Implementation): void {
  describe("bodies behave as the spec states", () => {
    const open = sharedBucket(implementation);

    test("spec 2.3: a StoreObjectBody is returned by a get and has all StoreObject fields plus the value", async () => {
      const { bucket } = await open();
      const put = await bucket.put("key", "value", { customMetadata: { a: "b" }, sha1: undefined });
      const object = await mustGet(bucket, "key");
      assert.deepEqual(fieldsOf(object), fieldsOf(put));
      assert.equal(typeof object.writeHttpMetadata, "function");
      assert.deepEqual({ ...object.range }, { offset: 0, length: 5 });
      assert.equal(await object.text(), "value");
    });

    for (const size of sizes) {
      test(`spec 2.3: every way of reading a value of ${size} bytes returns the same bytes`, async (t) => {
        const { bucket } = await open();
        const value = pattern(size);
        await eachMaking(bucket, value, async (key) => {
          await t.test(
            `spec 2.3: body is a ReadableStream of the value (kind of upload: ${key})`,
            async () => {
              const { body } = await mustGet(bucket, key);
              assert.ok(body instanceof ReadableStream);
              let at = 0;
              for await (const chunk of body) {
                assert.ok(chunk instanceof Uint8Array);
                assertBytes(chunk, value.slice(at, at + chunk.byteLength));
                at += chunk.byteLength;
              }
              assert.equal(at, size);
            },
          );

          await t.test(
            `spec 2.3: arrayBuffer() returns the value as an ArrayBuffer (kind of upload: ${key})`,
            async () => {
              const read = await (await mustGet(bucket, key)).arrayBuffer();
              assert.ok(read instanceof ArrayBuffer);
              assertBytes(read, value);
            },
          );

          await t.test(`spec 2.3: blob() returns the value as a Blob (kind of upload: ${key})`, async () => {
            const read = await (await mustGet(bucket, key)).blob();
            assert.ok(read instanceof Blob);
            assert.equal(read.size, size);
            assertBytes(await read.arrayBuffer(), value);
          });
        });
      });
    }

    test("spec 2.3: text() is the value as a string, and characters split between chunks are intact", async () => {
      const { bucket } = await open();
      for (const text of ["", "value", "ä€\u{1f600}", "a€\u{1f600}".repeat(30_000)]) {
        await eachMaking(bucket, new TextEncoder().encode(text), async (key) => {
          const value = await (await mustGet(bucket, key)).text();
          assert.equal(typeof value, "string");
          assert.ok(value === text, `the text of ${text.length} units`);
        });
      }
    });

    test("spec 2.3: json<T>() is the value parsed as the given type", async () => {
      const { bucket } = await open();
      interface Point {
        readonly x: number;
        readonly names: readonly string[];
      }
      const point: Point = { x: 1.5, names: ["ä", "\u{1f600}"] };
      await bucket.put("point", JSON.stringify(point));
      const read: Point = await (await mustGet(bucket, "point")).json<Point>();
      assert.deepEqual(read, point);
      for (const value of [null, true, 0, "text", [], {}, Array.from({ length: 20_000 }, (_, i) => i)]) {
        await bucket.put("value", JSON.stringify(value));
        assert.deepEqual(await (await mustGet(bucket, "value")).json(), value);
      }
    });

    test("spec 2.3: json() of a value that is not JSON is rejected", async () => {
      const { bucket } = await open();
      await bucket.put("key", "{");
      await assert.rejects((await mustGet(bucket, "key")).json(), SyntaxError);
    });

    test("spec 2.3: blob() has the object's contentType as its type", async () => {
      const { bucket } = await open();
      await bucket.put("key", "value", { httpMetadata: { contentType: "image/png" } });
      assert.equal((await (await mustGet(bucket, "key")).blob()).type, "image/png");
      await bucket.put("key", "value");
      assert.equal((await (await mustGet(bucket, "key")).blob()).type, "");
    });

    for (const [name, consume] of consumers) {
      test(`spec 2.3: bodyUsed is true after the value was consumed by ${name}`, async () => {
        const { bucket } = await open();
        for (const value of ['"small"', `"${"l".repeat(200_000)}"`]) {
          await bucket.put("key", value);
          const object = await mustGet(bucket, "key");
          assert.equal(object.bodyUsed, false);
          assert.ok(object.body instanceof ReadableStream);
          assert.equal(object.bodyUsed, false, "looking at the body does not consume it");
          await consume(object);
          assert.equal(object.bodyUsed, true);
        }
      });

      test(`spec 2.3: a value consumed by ${name} cannot be consumed again`, async () => {
        const { bucket } = await open();
        await bucket.put("key", '"value"');
        const object = await mustGet(bucket, "key");
        await consume(object);
        for (const [again, consumeAgain] of consumers) {
          if (again !== "body") await wrongArgument(consumeAgain(object), TypeError);
        }
        assert.equal(object.bodyUsed, true);
      });
    }

    test("spec 2.3: every get returns its own body, which can be read independently", async () => {
      const { bucket } = await open();
      await bucket.put("key", "value");
      const [one, two] = await Promise.all([mustGet(bucket, "key"), mustGet(bucket, "key")]);
      assert.equal(await one.text(), "value");
      assert.equal(two.bodyUsed, false);
      assert.equal(await two.text(), "value");
    });

    test("spec 2.3: overwriting or transferring returned bytes does not change the stored value", async () => {
      const { bucket } = await open();
      for (const size of fewSizes) {
        await eachMaking(bucket, pattern(size), async (key) => {
          for await (const chunk of (await mustGet(bucket, key)).body) {
            chunk.fill(0xee);
            structuredClone(chunk.buffer, { transfer: [chunk.buffer as ArrayBuffer] });
          }
          const whole = await (await mustGet(bucket, key)).arrayBuffer();
          new Uint8Array(whole).fill(0xdd);
          structuredClone(whole, { transfer: [whole] });
          assertBytes(await (await mustGet(bucket, key)).arrayBuffer(), pattern(size));
        });
      }
    });

    test("spec 2.3: a body is the value of the version that get returned, whatever is put or deleted meanwhile", async () => {
      const { bucket } = await open();
      for (const size of fewSizes) {
        await eachMaking(bucket, pattern(size), async (key) => {
          const [first, second] = [await mustGet(bucket, key), await mustGet(bucket, key)];
          await bucket.put(key, pattern(size + 1, 77));
          assertBytes(await first.arrayBuffer(), pattern(size));
          await bucket.delete(key);
          assertBytes(await second.arrayBuffer(), pattern(size));
        });
      }
    });
  });
}
