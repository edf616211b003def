// The encryption of a record: both forms, with and without other fields, and forms of earlier versions.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  decodeObject,
  decodeUpload,
  encodeObject,
  encodeUpload,
} from "../../../src/engine/codec/record-codec.ts";
import type { CustomerEncryption, ObjectRecord, StoreEncryption } from "../../../src/model/object.ts";
import { objectRecord, plain, uploadRecord } from "../../support/samples.ts";

const sealedKey = Buffer.alloc(60, 5);
const ofStore: StoreEncryption = { masterKey: "0123456789abcdef", scope: "a".repeat(32), sealedKey };
const ofCustomer: CustomerEncryption = { keyMd5: "b".repeat(32), scope: "a".repeat(32), sealedKey };
const md5 = Buffer.alloc(16, 1);

test("a record that is encrypted with the store's key is read as it was written", () => {
  const variants: Partial<ObjectRecord>[] = [
    { checksums: { md5 } },
    { checksums: { md5 }, isVersioned: true },
    { checksums: { md5 }, httpMetadata: { contentType: "text/plain" } },
    { checksums: { md5 }, customMetadata: new Map([["a", "b"]]), isVersioned: true },
    { checksums: { md5 }, tags: new Map([["a", "b"]]) },
    { checksums: {}, checksumParts: 3 },
  ];
  for (const variant of variants) {
    const record = objectRecord('k"ey', { ...variant, encryption: ofStore });
    const text = encodeObject(record);
    assert.deepEqual(plain(decodeObject(text)), plain(record));
    // Other fields take another path through the codec, which must write the same form.
    assert.ok(
      text.includes(`["store","${ofStore.scope}","${sealedKey.toString("base64")}","0123456789abcdef"]`),
    );
    assert.doesNotThrow(() => JSON.parse(text));
  }
});

test("records of customer keys keep the form of earlier versions", () => {
  const text = encodeObject(objectRecord("key", { encryption: ofCustomer, checksums: {} }));
  const form = `["${ofCustomer.keyMd5}","${ofCustomer.scope}","${sealedKey.toString("base64")}"]`;
  assert.ok(text.includes(form));
  assert.deepEqual(plain(decodeObject(text).encryption), plain(ofCustomer));
});

test("an upload keeps either encryption", () => {
  for (const encryption of [ofStore, ofCustomer]) {
    const record = uploadRecord("key", { encryption });
    assert.deepEqual(plain(decodeUpload(encodeUpload(record))), plain(record));
  }
});
