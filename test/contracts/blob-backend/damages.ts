// Blob backend contract: damaged, missing, truncated or misplaced bytes are reported and never
// returned.
import assert from "node:assert/strict";
import type { BackendBlob, BlobBackend } from "../../../src/cluster/backend/backend.ts";
import { StoreError } from "../../../src/model/errors.ts";
import type { ByteRange } from "../../../src/model/range.ts";
import { assertBytes, sampleBytes } from "../../support/bytes.ts";
import { block, type Chapter, newPlace, read, write } from "./setup.ts";

const storedBlock = block + 4;

async function assertDamaged(
  shelf: BlobBackend,
  blob: BackendBlob,
  what: string,
  range?: ByteRange,
): Promise<void> {
  await assert.rejects(read(shelf, blob, range), (error) => {
    assert(error instanceof StoreError, `${what}: ${String(error)}`);
    assert.equal(error.reason, "Damaged", what);
    assert.match(error.detail, /^The stored data is damaged: /, what);
    return true;
  });
}

function flipped(stored: Buffer, bit: number): Buffer {
  const changed = Buffer.from(stored);
  changed[bit >> 3]! ^= 1 << (bit & 7);
  return changed;
}

export const damages: Chapter = async (t, { shelf, change }) => {
  await t.test("a flipped bit anywhere in a blob is reported as damage", async () => {
    const bytes = sampleBytes(120);
    const blob = await write(shelf, bytes);
    for (let place = 0; place < 124; place++) {
      await change(blob, 0, (stored) => {
        assert.equal(stored.length, 124);
        return flipped(stored, place * 8 + (place % 8));
      });
      await assertDamaged(shelf, blob, `byte ${place}`);
      await change(blob, 0, (stored) => flipped(stored, place * 8 + (place % 8)));
    }
    assertBytes(await read(shelf, blob), bytes);
  });

  await t.test("damage in one block does not affect reads of other blocks", async () => {
    const bytes = sampleBytes(6 * block);
    const blob = await write(shelf, bytes);
    await change(blob, 0, (stored) => flipped(stored, (storedBlock + 5) * 8));
    await assertDamaged(shelf, blob, "the whole");
    await assertDamaged(shelf, blob, "its block", { offset: 2 * block - 1, length: 1 });
    for (const offset of [0, 2 * block, 5 * block]) {
      assertBytes(await read(shelf, blob, { offset, length: block }), bytes.subarray(offset, offset + block));
    }
  });

  await t.test("a truncated, extended or missing blob is reported as damage", async () => {
    const bytes = sampleBytes(block + 100);
    const changes: Record<string, (stored: Buffer) => Buffer | undefined> = {
      "without its last byte": (stored) => stored.subarray(0, -1),
      "without its last block": (stored) => stored.subarray(0, storedBlock),
      empty: () => Buffer.alloc(0),
      "a byte longer": (stored) => Buffer.concat([stored, Buffer.of(0)]),
      missing: () => undefined,
    };
    for (const [what, how] of Object.entries(changes)) {
      const blob = await write(shelf, bytes);
      await change(blob, 0, how);
      await assertDamaged(shelf, blob, what);
      await assertDamaged(shelf, blob, `the end of one ${what}`, { offset: block + 99, length: 1 });
      assert.equal(await shelf.has(blob), false, what);
    }
  });

  await t.test("two swapped blocks of a blob are reported as damage", async () => {
    const blob = await write(shelf, Buffer.alloc(2 * block, 7));
    await change(blob, 0, (stored) =>
      Buffer.concat([stored.subarray(storedBlock), stored.subarray(0, storedBlock)]),
    );
    await assertDamaged(shelf, blob, "the whole");
    await assertDamaged(shelf, blob, "its second block", { offset: block, length: 1 });
  });

  await t.test("a blob that contains the bytes of another blob is reported as damaged", async () => {
    const blob = await write(shelf, Buffer.alloc(500, 7), newPlace());
    const other = await write(shelf, Buffer.alloc(500, 7), newPlace(blob.bucket));
    let bytes: Buffer | undefined;
    await change(other, 0, (stored) => {
      bytes = stored;
      return stored;
    });
    await change(blob, 0, () => bytes);
    await assertDamaged(shelf, blob, "the whole");
  });
};
