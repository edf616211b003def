// The form in which objects of a backup leave the machine.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { StoreError } from "../../src/model/errors.ts";
import { createPlainCodec, createSealingCodec } from "../../src/repository/codec.ts";

const codecs = { plain: createPlainCodec(), encrypted: createSealingCodec(randomBytes(32)) };
const isDamaged = (error: unknown) => error instanceof StoreError && error.reason === "Damaged";

for (const [kind, codec] of Object.entries(codecs)) {
  test(`an object of every size is read as it was written (${kind})`, () => {
    for (const size of [0, 1, 65_535, 65_536, 65_537, 131_072, 300_000]) {
      const bytes = randomBytes(size);
      const stored = codec.seal("a/b", bytes);
      assert.equal(stored.length, codec.storedSize(size));
      assert.ok(bytes.equals(codec.open("a/b", stored)));
    }
  });

  test(`a changed, cut, extended or swapped object is refused (${kind})`, () => {
    const stored = Buffer.from(codec.seal("a/b", randomBytes(200_000)));
    for (const at of [0, 15, 16, 70_000, stored.length - 33, stored.length - 1]) {
      const changed = Buffer.from(stored);
      changed[at]! ^= 1;
      assert.throws(() => codec.open("a/b", changed), isDamaged, `byte ${at}`);
    }
    // The lengths of whole blocks too: a missing last block must be noticed.
    for (const length of [0, 1, 16, 32, 16 + 65_552, 16 + 2 * 65_552, stored.length - 1])
      assert.throws(() => codec.open("a/b", stored.subarray(0, length)), isDamaged, `${length} bytes`);
    assert.throws(() => codec.open("a/b", Buffer.concat([stored, Buffer.alloc(1)])), isDamaged);
    assert.throws(() => codec.open("a/c", stored), isDamaged);
  });
}

test("an encrypted object contains no plain text and is different each time", () => {
  const { encrypted } = codecs;
  const text = Buffer.from("a secret that must not leave the machine".repeat(100));
  const [first, second] = [encrypted.seal("a", text), encrypted.seal("a", text)];
  assert.ok(!Buffer.from(first).includes("secret"));
  assert.notDeepEqual(first, second);
  assert.throws(() => createSealingCodec(randomBytes(32)).open("a", first), isDamaged);
});
