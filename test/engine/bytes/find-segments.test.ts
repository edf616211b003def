import assert from "node:assert/strict";
import { test } from "node:test";
import { findSegments } from "../../../src/engine/bytes/find-segments.ts";

const sizes = [3, 0, 5, 1, 0, 4];
const list = sizes.map((size, index) => ({ number: index + 1, size, blob: { id: `blob ${index}`, size } }));
const total = sizes.reduce((sum, size) => sum + size, 0);

test("the found segments contain exactly the bytes of every range, whatever their sizes", () => {
  const bytes = list.flatMap(({ number, size }) =>
    Array.from({ length: size }, (_, at) => `${number}.${at}`),
  );
  for (let offset = 0; offset < total; offset++) {
    for (let length = 1; offset + length <= total; length++) {
      const found = findSegments(list, { offset, length }, () => {});
      const held = found.segments.flatMap(({ number, size }) =>
        Array.from({ length: size }, (_, at) => `${number}.${at}`),
      );
      const begin = offset - found.offset;
      assert.deepEqual(held.slice(begin, begin + length), bytes.slice(offset, offset + length));
      assert.ok(begin < found.segments[0]!.size, "no segment before the range");
      assert.equal(found.first, list[0]);
    }
  }
});

test("a range of an empty body of several parts has no segments", () => {
  const empty = list.filter(({ size }) => size === 0);
  assert.deepEqual(findSegments(empty, { offset: 0, length: 0 }, () => {}).segments, []);
});

test("every segment of a list is checked, also those outside the range, and once for each list", () => {
  const own = [...list];
  const checked: number[] = [];
  for (let round = 0; round < 2; round++)
    findSegments(own, { offset: 0, length: 1 }, ({ number }) => checked.push(number));
  assert.deepEqual(checked, [1, 2, 3, 4, 5, 6]);
});
