// Spec 2.6: byte ranges, requested in three forms and reported on the object.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { StoreBucket, StoreObjectBody, StoreRange } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";
import {
  assertBytes,
  mustGet,
  pattern,
  putInParts,
  refused,
  sharedBucket,
  textOf,
  wrongArgument,
} from "./support.ts";

const ssecKey = pattern(32, 5);

type Reader = (range: StoreRange) => Promise<StoreObjectBody>;

/** Stores the same bytes by a single put, in parts and encrypted. Ranges of all must be equal. */
async function makings(bucket: StoreBucket, value: Uint8Array): Promise<Reader[]> {
  await bucket.put("single", value);
  const third = Math.max(1, Math.ceil(value.byteLength / 3));
  const parts = [0, 1, 2]
    .map((i) => value.slice(i * third, (i + 1) * third))
    .filter((part) => part.byteLength > 0);
  await putInParts(bucket, "in parts", parts);
  await bucket.put("sealed", value, { ssecKey });
  await putInParts(bucket, "sealed in parts", parts, { ssecKey });
  const ways = [["single"], ["in parts"], ["sealed", ssecKey], ["sealed in parts", ssecKey]] as const;
  return ways.map(
    ([key, ssecKey]): Reader =>
      (range) =>
        mustGet(bucket, key, { range, ssecKey }),
  );
}

/** Returns offsets near the boundaries of blocks, parts and the body. */
function places(size: number): number[] {
  const all = [0, 1, size / 3 - 1, size / 3, size / 3 + 1, 65_535, 65_536, 65_537, size / 2, size - 1];
  return [...new Set(all.map(Math.floor))].filter((place) => place >= 0 && place < size);
}

export function rangeSentences(implementation: Implementation): void {
  describe("ranges behave as the spec states", () => {
    const open = sharedBucket(implementation);

    for (const size of [1, 4097, 65_537, 300_001]) {
      test(`spec 2.6: ranges of an object of ${size} bytes return the requested bytes`, async (t) => {
        const { bucket } = await open();
        const value = pattern(size);
        const readers = await makings(bucket, value);

        await t.test(
          "spec 2.6: offset is the first byte returned, inclusive, and length may be omitted",
          async () => {
            for (const read of readers) {
              for (const offset of places(size)) {
                const object = await read({ offset });
                assert.deepEqual({ ...object.range }, { offset, length: size - offset });
                assertBytes(await object.arrayBuffer(), value.slice(offset));
              }
            }
          },
        );

        await t.test(
          "spec 2.6: a range with offset and length returns length bytes from the offset",
          async () => {
            for (const read of readers) {
              for (const offset of places(size)) {
                for (const end of places(size + 1).filter((place) => place > offset)) {
                  const object = await read({ offset, length: end - offset });
                  assert.deepEqual({ ...object.range }, { offset, length: end - offset });
                  assertBytes(await object.arrayBuffer(), value.slice(offset, end));
                }
              }
            }
          },
        );

        await t.test(
          "spec 2.6: a range with length and no offset returns length bytes from the start",
          async () => {
            for (const read of readers) {
              for (const length of places(size).map((place) => place + 1)) {
                const object = await read({ length });
                assert.deepEqual({ ...object.range }, { offset: 0, length });
                assertBytes(await object.arrayBuffer(), value.slice(0, length));
              }
            }
          },
        );

        await t.test("spec 2.6: suffix is the count of bytes from the end of the object", async () => {
          for (const read of readers) {
            for (const suffix of places(size).map((place) => place + 1)) {
              const object = await read({ suffix });
              assert.deepEqual({ ...object.range }, { offset: size - suffix, length: suffix });
              assertBytes(await object.arrayBuffer(), value.slice(size - suffix));
            }
          }
        });

        await t.test("spec 2.6: if more bytes are requested than exist, fewer are returned", async () => {
          for (const read of readers) {
            for (const more of [size + 1, size * 3, 2 ** 40, Number.MAX_SAFE_INTEGER]) {
              for (const [range, offset] of [
                [{ length: more }, 0],
                [{ suffix: more }, 0],
                [{ offset: 0, length: more }, 0],
                [{ offset: size - 1, length: more }, size - 1],
              ] as const) {
                const object = await read(range);
                assert.deepEqual({ ...object.range }, { offset, length: size - offset });
                assertBytes(await object.arrayBuffer(), value.slice(offset));
              }
            }
          }
        });
      });
    }

    test("spec 2.12: range in the get options returns only the given bytes, by every way of reading them", async () => {
      const { bucket } = await open();
      await bucket.put("key", '0123[1,2]"6789"');
      const range = { offset: 4, length: 5 };
      assert.equal(await (await mustGet(bucket, "key", { range })).text(), "[1,2]");
      assert.deepEqual(await (await mustGet(bucket, "key", { range })).json(), [1, 2]);
      assert.equal(await (await (await mustGet(bucket, "key", { range })).blob()).text(), "[1,2]");
      assert.equal((await (await mustGet(bucket, "key", { range })).arrayBuffer()).byteLength, 5);
      const { body } = await mustGet(bucket, "key", { range });
      assert.equal(await new Response(body).text(), "[1,2]");
    });

    test("spec 2.12: get without a range, or with an empty range object, returns the whole object", async () => {
      const { bucket } = await open();
      await bucket.put("key", "value");
      for (const range of [undefined, null, {} as StoreRange]) {
        assert.equal(await textOf(bucket, "key", { range }), "value");
      }
    });

    test("spec 2.6: get of a range that contains no byte of the object is refused", async () => {
      const { bucket } = await open();
      await bucket.put("key", "value");
      await bucket.put("empty", "");
      const ranges = [{ offset: 5 }, { offset: 42 }, { offset: 5, length: 1 }, { length: 0 }, { suffix: 0 }];
      for (const range of ranges) await refused(bucket.get("key", { range }), "get", 10039);
      for (const range of [{ offset: 0 }, { length: 1 }, { suffix: 1 }]) {
        await refused(bucket.get("empty", { range }), "get", 10039);
      }
    });

    test("spec 2.6: a negative or fractional offset, length or suffix is refused with an error that names it", async () => {
      const { bucket } = await open();
      await bucket.put("key", "value");
      for (const wrong of [-1, 0.5, Number.NaN]) {
        await wrongArgument(bucket.get("key", { range: { offset: wrong } }), RangeError, /offset/);
        await wrongArgument(bucket.get("key", { range: { length: wrong } }), RangeError, /length/);
        await wrongArgument(bucket.get("key", { range: { suffix: wrong } }), RangeError, /suffix/);
      }
    });

    test("spec 2.6: suffix cannot be combined with offset or length", async () => {
      const { bucket } = await open();
      await bucket.put("key", "value");
      for (const beside of [{ offset: 1 }, { length: 1 }, { offset: 1, length: 1 }]) {
        await wrongArgument(bucket.get("key", { range: { suffix: 1, ...beside } }), TypeError, /suffix/i);
      }
    });
  });
}
