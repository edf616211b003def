// Every single-bit change of a stored text or of its checksum is detected.
import assert from "node:assert/strict";
import { test } from "node:test";
import { verifyText, withTextChecksum } from "../../../src/local/rows/checksum.ts";

test("a flipped bit anywhere in a stored text or in the digits of its checksum is reported as damage", () => {
  for (let i = 0; i < 64; i++) {
    const bytes = Buffer.from(withTextChecksum(`record ${i}`, "place"));
    assert.equal(verifyText(bytes.toString("latin1"), "it", "place"), `record ${i}`);
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      assert.throws(() => verifyText(flipped.toString("latin1"), "it", "place"), /damaged/, `bit ${bit}`);
    }
  }
});
