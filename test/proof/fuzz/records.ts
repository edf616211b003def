// Fuzz targets of stored data: records and rows with checksums. Damage must be reported as damage.
import * as encoding from "../../../src/engine/codec/record-codec.ts";
import { verifyBytes, verifyText, withChecksum, withTextChecksum } from "../../../src/local/rows/checksum.ts";
import { StoreError } from "../../../src/model/errors.ts";
import { bodyPart, emptyMd5, objectRecord, partRecord, uploadRecord } from "../../support/samples.ts";
import { holds, type Target } from "./target.ts";

function damageOutcome(error: unknown): string | undefined {
  const isDamage = error instanceof StoreError && error.reason === "Damaged";
  return isDamage ? error.message.slice(0, 60) : undefined;
}

const version = "0123456789abcdef0123456789abcdef";
const sealed = { keyMd5: emptyMd5, scope: version, sealedKey: Buffer.alloc(60, 3) };
const object = objectRecord("a/ü", {
  version,
  size: 300,
  checksums: { md5: Buffer.alloc(16, 1), crc32: Buffer.alloc(4) },
  httpMetadata: { contentType: "text/plain", cacheExpiry: 1 },
  customMetadata: new Map([["a", "b"]]),
  encryption: sealed,
  checksumParts: 2,
});
const upload = uploadRecord("a", {
  id: version,
  checksum: { algorithm: "sha256", of: "parts" },
  result: { version, etag: `${emptyMd5}-2` },
});

type Coder = { decode(text: string): unknown; encode(value: never): string };

/** The first letter of a sample selects its coder. */
const coders: Readonly<Record<string, Coder>> = {
  o: { decode: encoding.decodeObject, encode: encoding.encodeObject },
  u: { decode: encoding.decodeUpload, encode: encoding.encodeUpload },
  p: { decode: (text) => encoding.decodePart(1, "blob", text), encode: encoding.encodePart },
  m: { decode: encoding.decodeManifest, encode: encoding.encodeManifest },
};

const records: Target = {
  name: "stored records",
  form: "text",
  samples: [
    `o${encoding.encodeObject(object)}`,
    `o${encoding.encodeObject(objectRecord("k", { version }))}`,
    `u${encoding.encodeUpload(upload)}`,
    `u${encoding.encodeUpload(uploadRecord("k", { id: version }))}`,
    `p${encoding.encodePart(partRecord(1, "blob", { checksums: { sha1: Buffer.alloc(20) } }))}`,
    `m${encoding.encodeManifest([bodyPart(1, version), bodyPart(2, version)])}`,
  ],
  tokens: ["[", "]", "[]", "{}", "null", "0", "1", '""', ",", "[1,", '"a"', "1.5", "-1", "true", "{", "}"],
  open: () => ({
    run(input) {
      const coder = Object.hasOwn(coders, input[0] ?? "") ? coders[input[0]!]! : coders.o!;
      const decoded = coder.decode(input.slice(1));
      const text = coder.encode(decoded as never);
      holds(
        coder.encode(coder.decode(text) as never) === text,
        "is another record after it is written and read again",
      );
      return `read ${input[0]}`;
    },
    outcomeOf: damageOutcome,
  }),
};

const place = "blob 70000";
const text = encoding.encodeObject(object);
const bytes = Buffer.from("inline bytes of an object, with a checksum behind them");

const rows: Target = {
  name: "checked rows",
  form: "bytes",
  samples: [
    `t${Buffer.from(withTextChecksum(text, place)).toString("latin1")}`,
    `b${Buffer.from(withChecksum(version, bytes)).toString("latin1")}`,
  ],
  open: () => ({
    run(input) {
      const row = Buffer.from(input.slice(1), "latin1");
      if (input[0] === "b") {
        const found = verifyBytes(version, row, "the body");
        holds(bytes.equals(found), "accepts bytes with a wrong checksum");
        return "bytes";
      }
      holds(verifyText(row.toString(), "the record", place) === text, "accepts a text with a wrong checksum");
      return "text";
    },
    outcomeOf: damageOutcome,
  }),
};

export const recordTargets: readonly Target[] = [records, rows];
