// Tests "get" of binding.md: every form of a range, and the returned bytes.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { StoreGetOptions, StoreObjectBody, StoreRange } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";
import { openBucket, patterned, rejectsArgument, rejectsWith, secret } from "./scene.ts";

const value = "value";
const unsatisfiable = { code: 10039, action: "get", message: "The requested range is not satisfiable" };

export function rangesContract(implementation: Implementation): void {
  describe("get with a range returns exactly the requested bytes", () => {
    test('every range of the object "value" in the table of binding.md returns the documented bytes', async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("key", value);
      const table: readonly (readonly [range: StoreRange | null, answer: string | null])[] = [
        [{ offset: 3 }, "ue"],
        [{ length: 42 }, "value"],
        [{ suffix: 42 }, "value"],
        [{ offset: 5 }, null],
        [{ offset: 42 }, null],
        [{ length: 0 }, null],
        [{ suffix: 0 }, null],
        [{} as StoreRange, "value"],
        [null, "value"],
        [{ offset: 0, length: 1 }, "v"],
        [{ offset: 4, length: 1 }, "e"],
        [{ offset: 1, length: 3 }, "alu"],
        [{ offset: 1, length: 0 }, null],
        [{ suffix: 1 }, "e"],
        [{ suffix: 5 }, "value"],
        [{ offset: 0, length: Number.MAX_SAFE_INTEGER }, "value"],
        [{ suffix: Number.MAX_SAFE_INTEGER }, "value"],
        [{ offset: Number.MAX_SAFE_INTEGER }, null],
      ];
      for (const [range, answer] of table) {
        if (answer === null) await rejectsWith(unsatisfiable, () => bucket.get("key", { range }));
        else assert.equal(await (await bucket.get("key", { range }))?.text(), answer, JSON.stringify(range));
      }
    });

    test("every offset, length and suffix around the size of the object returns the right bytes", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("key", value);
      const upload = await bucket.createMultipartUpload("parts");
      const parts = await Promise.all(["va", "lu", "e"].map((part, i) => upload.uploadPart(i + 1, part)));
      await upload.complete(parts);
      await bucket.put("sealed", value, { ssecKey: secret });
      const counts = [undefined, 0, 1, 2, 3, 4, 5, 6, 42];
      for (const [key, options] of [
        ["key", {}],
        ["parts", {}],
        ["sealed", { ssecKey: secret }],
      ] as const) {
        for (const offset of counts) {
          for (const length of counts) {
            const start = offset ?? 0;
            const expected = value.slice(start, start + (length ?? 42));
            const range = { offset, length } as StoreRange;
            const asked = offset !== undefined || length !== undefined;
            await answers({ key, options: { ...options, range } }, asked ? expected : value, start);
          }
        }
        for (const suffix of counts.slice(1) as number[]) {
          const expected = suffix === 0 ? "" : value.slice(-suffix);
          const start = value.length - expected.length;
          await answers({ key, options: { ...options, range: { suffix } } }, expected, start);
        }
      }

      async function answers(
        asked: { key: string; options: Omit<StoreGetOptions, "onlyIf"> },
        expected: string,
        offset: number,
      ) {
        if (expected === "") {
          await rejectsWith(unsatisfiable, () => bucket.get(asked.key, asked.options));
          return;
        }
        const object = await bucket.get(asked.key, asked.options);
        assert.deepEqual(
          { text: await object?.text(), range: object?.range, size: object?.size },
          { text: expected, range: { offset, length: expected.length }, size: value.length },
          JSON.stringify(asked),
        );
      }
    });

    test("any range of an empty object is refused with 10039; without a range, get returns no bytes", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("empty", null);
      for (const range of [
        { offset: 0 },
        { offset: 1 },
        { length: 0 },
        { length: 1 },
        { offset: 0, length: 1 },
        { suffix: 0 },
        { suffix: 1 },
        new Headers({ range: "bytes=0-" }),
        new Headers({ range: "bytes=0-0" }),
        new Headers({ range: "bytes=-1" }),
      ]) {
        await rejectsWith(unsatisfiable, () => bucket.get("empty", { range }));
      }
      for (const range of [undefined, null, {} as StoreRange, new Headers()]) {
        assert.equal(await (await bucket.get("empty", { range }))?.text(), "");
      }
    });

    test("a negative, fractional or NaN field of a range is refused with a RangeError that names the field", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("key", value);
      for (const field of ["offset", "length", "suffix"]) {
        for (const wrong of [-1, -0.5, 1.5, Number.NaN, Number.NEGATIVE_INFINITY]) {
          const range = { [field]: wrong } as unknown as StoreRange;
          await rejectsArgument({ type: "RangeError", message: new RegExp(`\\b${field}\\b`) }, () =>
            bucket.get("key", { range }),
          );
        }
      }
      await rejectsArgument({ type: "RangeError", message: /\blength\b/ }, () =>
        bucket.get("key", { range: { offset: 1, length: -1 } }),
      );
      await rejectsArgument({ type: "RangeError", message: /\boffset\b/ }, () =>
        bucket.get("key", { range: { offset: 1.5, length: 1 } }),
      );
    });

    test("a range with both suffix and offset or length is refused with a TypeError", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("key", value);
      for (const range of [
        { suffix: 1, offset: 1 },
        { suffix: 1, length: 1 },
        { suffix: 1, offset: 0, length: 1 },
        { suffix: 0, offset: 0 },
      ] as StoreRange[]) {
        await rejectsArgument({}, () => bucket.get("key", { range }));
      }
    });

    test("get with Range: bytes=a-b, bytes=a- or bytes=-n in a Headers object returns these bytes", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("key", value);
      const table: readonly (readonly [header: string, text: string, offset: number])[] = [
        ["bytes=0-0", "v", 0],
        ["bytes=1-2", "al", 1],
        ["bytes=0-4", "value", 0],
        ["bytes=0-42", "value", 0],
        ["bytes=4-4", "e", 4],
        ["bytes=0-", "value", 0],
        ["bytes=3-", "ue", 3],
        ["bytes=-2", "ue", 3],
        ["bytes=-5", "value", 0],
        ["bytes=-42", "value", 0],
      ];
      for (const [header, text, offset] of table) {
        const object = await bucket.get("key", { range: new Headers({ Range: header }) });
        assert.deepEqual(object?.range, { offset, length: text.length }, header);
        assert.equal(await object?.text(), text, header);
      }
    });

    test("get with a malformed, multiple or missing range in a Headers object returns the whole object", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("key", value);
      const malformed = [
        "",
        "bytes",
        "bytes=",
        "bytes=-",
        "bytes=a-b",
        "bytes=1-0",
        "1-2",
        "items=1-2",
        "bytes=1.5-2",
      ];
      const multiple = ["bytes=0-1,3-4", "bytes=0-1, -1", "bytes=0-0,42-43"];
      for (const header of [...malformed, "bytes=--1", "bytes=1-2-3", "bytes=+1-2", ...multiple]) {
        const object = await bucket.get("key", { range: new Headers({ range: header }) });
        assert.deepEqual(object?.range, { offset: 0, length: 5 }, header);
        assert.equal(await object?.text(), value, header);
      }
      assert.equal(await (await bucket.get("key", { range: new Headers() }))?.text(), value);
    });

    test("get with a range past the end of the object in a Headers object is refused with 10039", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("key", value);
      for (const header of ["bytes=5-", "bytes=5-5", "bytes=42-50", "bytes=42-", "bytes=-0"]) {
        const range = new Headers({ range: header });
        await rejectsWith(unsatisfiable, () => bucket.get("key", { range }));
      }
    });

    test("a range of a large object returns the right bytes at every boundary of blocks and parts", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const block = 64 * 1024;
      const bytes = patterned(3 * block + 100);
      const partSize = block + 1000;
      for (const [key, ssecKey] of [
        ["plain", undefined],
        ["sealed", secret],
      ] as const) {
        await bucket.put(`${key}-single`, bytes, { ssecKey });
        const upload = await bucket.createMultipartUpload(`${key}-parts`, { ssecKey });
        const parts = [];
        for (let at = 0; at < bytes.length; at += partSize) {
          const part = bytes.subarray(at, at + partSize);
          parts.push(await upload.uploadPart(parts.length + 1, part, { ssecKey }));
        }
        await upload.complete(parts);
        const edges = [0, block, 2 * block, 3 * block, partSize, 2 * partSize, bytes.length];
        for (const kind of ["single", "parts"]) {
          for (const edge of edges) {
            for (const offset of [edge - 1, edge, edge + 1]) {
              if (offset < 0 || offset >= bytes.length) continue;
              for (const length of [1, 2, block, partSize + 1, bytes.length]) {
                const object = await bucket.get(`${key}-${kind}`, { ssecKey, range: { offset, length } });
                await hasBytes(object, bytes.subarray(offset, offset + length));
              }
            }
          }
          await hasBytes(
            await bucket.get(`${key}-${kind}`, { ssecKey, range: { suffix: 101 } }),
            bytes.subarray(-101),
          );
          await hasBytes(await bucket.get(`${key}-${kind}`, { ssecKey }), bytes);
        }
      }
    });
  });
}

async function hasBytes(object: StoreObjectBody | null, expected: Uint8Array): Promise<void> {
  assert.ok(object);
  assert.ok(object.range !== undefined && "length" in object.range);
  assert.equal(object.range.length, expected.length);
  assert.ok(Buffer.from(await object.arrayBuffer()).equals(expected), JSON.stringify(object.range));
}
