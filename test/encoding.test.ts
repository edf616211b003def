// Records as text: what cannot be one is told as damage, whatever it is.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  decodeManifest,
  decodeObject,
  decodePart,
  decodeUpload,
  encodeManifest,
  encodeObject,
  encodePart,
  encodeUpload,
} from "../src/engine/encoding.ts";
import { StoreError } from "../src/model/errors.ts";
import { bodyPart, objectRecord, partRecord, uploadRecord } from "./support/samples.ts";

const coders = {
  object: { decode: decodeObject, text: encodeObject(objectRecord("key", { size: 5 })) },
  upload: { decode: decodeUpload, text: encodeUpload(uploadRecord("key")) },
  part: {
    decode: (text: string) => decodePart(1, "blob", text),
    text: encodePart(partRecord(1, "blob", { checksums: { md5: Buffer.alloc(16) } })),
  },
  manifest: { decode: decodeManifest, text: encodeManifest([bodyPart(1, "blob")]) },
};

function isDamage(error: unknown): boolean {
  return error instanceof StoreError && error.reason === "InternalError" && /damaged/.test(error.message);
}

for (const [name, { decode, text }] of Object.entries(coders)) {
  describe(`the record of an ${name}`, () => {
    test("is damaged when it is no JSON, or another value than a record", () => {
      for (const damaged of [
        "",
        "{",
        "null",
        "1",
        "{}",
        "[]",
        '"text"',
        "[null]",
        "[1]",
        text.slice(0, -2),
        `${text}]`,
      ]) {
        assert.throws(() => decode(damaged), isDamage, damaged);
      }
    });

    test("is damaged when any of its values is of another kind", () => {
      const values = JSON.parse(text) as unknown[];
      const others = values.map((_, at) => values.with(at, { an: ["other"] }));
      for (const other of others)
        assert.throws(() => decode(JSON.stringify(other)), isDamage, JSON.stringify(other));
    });

    test("of a later format says so", () => {
      const [, ...rest] = JSON.parse(text) as unknown[];
      assert.throws(
        () => decode(JSON.stringify([2, ...rest])),
        /written by a later version: record format 2/,
      );
    });
  });
}
