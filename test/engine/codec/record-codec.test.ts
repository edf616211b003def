// Decoding of records: any text that is not a record is reported as damage.
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
} from "../../../src/engine/codec/record-codec.ts";
import { StoreError } from "../../../src/model/errors.ts";
import { bodyPart, objectRecord, partRecord, uploadRecord } from "../../support/samples.ts";

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
  return error instanceof StoreError && error.reason === "Damaged";
}

for (const [name, { decode, text }] of Object.entries(coders)) {
  describe(`a damaged or newer record of type ${name} is refused`, () => {
    test("text that is not JSON or not a record is reported as damage", () => {
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

    test("a record with a field of the wrong type is reported as damage", () => {
      const values = JSON.parse(text) as unknown[];
      const others = values.map((_, at) => values.with(at, { an: ["other"] }));
      for (const other of others)
        assert.throws(() => decode(JSON.stringify(other)), isDamage, JSON.stringify(other));
    });

    test("a record in a newer format is refused with an error that states this", () => {
      const [, ...rest] = JSON.parse(text) as unknown[];
      assert.throws(
        () => decode(JSON.stringify([2, ...rest])),
        /written by a later version: record format 2/,
      );
    });
  });
}

describe("records of objects in common and uncommon form are decoded, and malformed records are refused", () => {
  const md5 = { md5: Buffer.alloc(16, 7) };
  const usual = objectRecord("a/key", { size: 5, checksums: md5 });
  const others = {
    "only an MD5 checksum": usual,
    "a content type": { ...usual, httpMetadata: { contentType: "text/plain; charset=utf-8" } },
    "a content type with quotes": { ...usual, httpMetadata: { contentType: 'a/b; c="d"' } },
    "only Cache-Control": { ...usual, httpMetadata: { cacheControl: "no-store" } },
    "content type and cache expiry": { ...usual, httpMetadata: { contentType: "a/b", cacheExpiry: -1.5 } },
    "custom metadata": { ...usual, customMetadata: new Map([["name", "value"]]) },
    "further checksums": { ...usual, checksums: { ...md5, sha256: Buffer.alloc(32, 1) } },
    "no checksum": { ...usual, checksums: {} },
    "storage class InfrequentAccess": { ...usual, storageClass: "InfrequentAccess" as const },
    "a time before the epoch": { ...usual, uploaded: -1 },
    "a time with a fraction of a millisecond": { ...usual, uploaded: 1.5 },
    "time and size zero": { ...usual, uploaded: 0, size: 0 },
    "the largest size": { ...usual, size: Number.MAX_SAFE_INTEGER },
    "a checksum made from parts": { ...usual, checksumParts: 3 },
    "a key with quotes, NUL and a backslash": { ...usual, key: 'a"b\u0000\\c",1]' },
    "a key with non-ASCII letters": { ...usual, key: "ключ/鍵/🔑/\u2028\u007f" },
    "an empty etag": { ...usual, etag: "" },
  };
  for (const [what, record] of Object.entries(others)) {
    test(`an object's record with ${what} is unchanged after encoding and decoding`, () => {
      const text = encodeObject(record);
      assert.deepEqual(decodeObject(text), record);
      assert.equal(JSON.stringify(JSON.parse(text)), text, "the text equals the output of JSON.stringify");
    });
  }

  test("a malformed record of an object that resembles the common form is reported as damage", () => {
    const text = encodeObject(usual);
    const md5Text = Buffer.alloc(16, 7).toString("hex");
    for (const damaged of [
      text.replace("a/key", "a\nkey"),
      text.replace("Standard", "Cheapest"),
      text.replace(md5Text, md5Text.slice(1)),
      text.replace(",5,", ",05,"),
      text.replace(",5,", ",-5,"),
      text.replace(",5,", ",99999999999999999,"),
    ]) {
      assert.notEqual(damaged, text);
      assert.throws(() => decodeObject(damaged), isDamage, damaged);
    }
  });
});
