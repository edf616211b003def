// CRCs: published test values, input in chunks of any size, and values combined from parts.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cyclicAlgorithms } from "../../../src/model/checksums/checksum.ts";
import { combineChecksums } from "../../../src/model/checksums/crc-combine.ts";
import { hashBytes, startHash } from "../../../src/model/checksums/hashes.ts";

const published = { crc32: "cbf43926", crc32c: "e3069283", crc64nvme: "ae8b14860a799888" };

for (const algorithm of cyclicAlgorithms) {
  test(`${algorithm} of "123456789" is the published value`, () => {
    assert.equal(
      Buffer.from(hashBytes(algorithm, Buffer.from("123456789"))).toString("hex"),
      published[algorithm],
    );
  });

  test(`${algorithm} does not depend on the chunk sizes and can be combined from the checksums of parts`, () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 8 }), (pieces) => {
        const whole = startHash(algorithm);
        for (const piece of pieces) whole.update(piece);
        const value = Buffer.from(whole.digest()).toString("hex");
        assert.equal(value, Buffer.from(hashBytes(algorithm, Buffer.concat(pieces))).toString("hex"));
        const parts = pieces.map((piece) => ({ value: hashBytes(algorithm, piece), size: piece.length }));
        assert.equal(Buffer.from(combineChecksums(algorithm, parts)).toString("hex"), value);
      }),
    );
  });
}
