import assert from "node:assert/strict";
import { test } from "node:test";
import { findSegments } from "../../../src/engine/bytes/find-segments.ts";
import { toPartsBody } from "../../../src/engine/codec/parts-body.ts";
import { encodeManifest } from "../../../src/engine/codec/record-codec.ts";
import type { BodyPart } from "../../../src/engine/records.ts";

const regularSize = 1000;

function listOf(sizes: readonly number[]): BodyPart[] {
  return sizes.map((size, index) => ({
    number: index * 2 + 1,
    size,
    blob: { id: `7b47.${index}`, size: size + 1 },
    ...(index % 3 === 0 ? { checksums: { md5: Buffer.alloc(16, index), crc32: Buffer.alloc(4, 1) } } : {}),
  }));
}

function bodyOf(list: readonly BodyPart[]) {
  const size = list.reduce((sum, part) => sum + part.size, 0);
  return { size, body: toPartsBody(encodeManifest(list), size) };
}

const regular = Array.from({ length: 600 }, () => regularSize);
const lists: Readonly<Record<string, readonly number[]>> = {
  "of parts of one size": regular,
  "with a smaller last part": [...regular, 17],
  "with a larger last part": [...regular, 2 * regularSize + 1],
  "with several parts of other sizes at the end": [...regular, 17, 0, 5],
  "with empty parts in between": regular.flatMap((size, index) => (index % 50 === 3 ? [size, 0] : [size])),
};

for (const [name, sizes] of Object.entries(lists)) {
  test(`in a list ${name}, a short range finds the same parts as in the decoded list`, () => {
    const list = listOf(sizes);
    const { size, body } = bodyOf(list);
    for (let offset = 0; offset < size; offset += 333) {
      for (const length of [1, regularSize, 2500]) {
        if (offset + length > size) continue;
        const range = { offset, length };
        const found = body.findParts!(range)!;
        const expected = findSegments(list, range, () => {});
        const notEmpty = (parts: readonly { readonly size: number }[]) =>
          parts.filter((part) => part.size > 0);
        const inRange = found.segments.filter((part) => part.size > 0);
        const first = expected.segments.findIndex((part) => part.size > 0);
        assert.deepEqual(inRange.slice(0, notEmpty(expected.segments).length), notEmpty(expected.segments));
        assert.equal(first, 0);
        assert.equal(found.offset, expected.offset);
        assert.deepEqual(found.first, list[0]);
        assert.equal(found.segments[0] === found.first, expected.segments[0] === expected.first);
      }
    }
    assert.deepEqual(body.parts, list);
  });
}

test("a list of parts of different sizes is not indexed, and is decoded", () => {
  const sizes = regular.map((size, index) => size + (index % 2));
  const list = listOf(sizes);
  const { body } = bodyOf(list);
  assert.equal(body.findParts!({ offset: 5, length: 1 }), undefined);
  assert.deepEqual(body.parts, list);
});

test("a list whose sizes do not add up to the size of the body is not indexed", () => {
  const text = encodeManifest(listOf(regular));
  const body = toPartsBody(text, regular.length * regularSize + 1);
  assert.equal(body.findParts!({ offset: 5, length: 1 }), undefined);
});

test("a short list is decoded at once", () => {
  const list = listOf([5, 5, 3]);
  const { body } = bodyOf(list);
  assert.equal(body.findParts, undefined);
  assert.deepEqual(body.parts, list);
});

test("a range of a large share of the body is read by the decoded list, also after a short range", () => {
  const list = listOf(regular);
  const { size, body } = bodyOf(list);
  assert.ok(body.findParts!({ offset: 5, length: 1 }));
  assert.equal(body.findParts!({ offset: 0, length: size }), undefined);
  assert.deepEqual(body.parts, list);
  assert.equal(body.findParts!({ offset: 5, length: 1 }), undefined);
});

test("a damaged list is reported when it is decoded", () => {
  const text = `[1,[[1,"x"]]]${" ".repeat(20_000)}`;
  const body = toPartsBody(text, 5);
  assert.equal(body.findParts!({ offset: 0, length: 0 }), undefined);
  assert.throws(() => body.parts, { reason: "Damaged" });
});
