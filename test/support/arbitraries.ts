// fast-check generators of records with any values that their types allow.
import fc from "fast-check";
import type { Body } from "../../src/engine/records.ts";
import { allAlgorithms, checksumLengths } from "../../src/model/checksums/checksum.ts";
import type {
  Checksums,
  CustomMetadata,
  Encryption,
  HttpMetadata,
  Metadata,
  ObjectRecord,
  Passthrough,
} from "../../src/model/object.ts";
import type { PartRecord, UploadRecord } from "../../src/model/upload.ts";
import { emptyMd5 } from "./samples.ts";

/** Any well-formed string, including astral code points, control characters and NUL. */
export const wellFormed = (maxLength: number) => fc.string({ unit: "binary", maxLength });

/** Any JavaScript string, including lone surrogates: metadata need not be valid UTF-8. */
const anyText = fc.oneof(
  wellFormed(12),
  fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)), maxLength: 4 }),
  fc.constantFrom(
    "",
    "__proto__",
    "constructor",
    "toString",
    "0",
    "é",
    "e\u0301",
    "\ufeffbom",
    "\0",
    "a=b;c",
  ),
);

const milliseconds = fc.integer({ min: -8.64e15, max: 8.64e15 });

const httpMetadata: fc.Arbitrary<HttpMetadata> = fc.record(
  {
    contentType: anyText,
    contentLanguage: anyText,
    contentDisposition: anyText,
    contentEncoding: anyText,
    cacheControl: anyText,
    cacheExpiry: milliseconds,
  },
  { requiredKeys: [] },
);

const customMetadata: fc.Arbitrary<CustomMetadata> = fc
  .array(fc.tuple(anyText, anyText), { maxLength: 5 })
  .map((entries) => new Map(entries));

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

const checksums: fc.Arbitrary<Checksums> = fc
  .subarray([...allAlgorithms])
  .chain((algorithms) =>
    fc.record(Object.fromEntries(algorithms.map((name) => [name, bytes(checksumLengths[name])]))),
  );

const encryption: fc.Arbitrary<Encryption> = fc.record(
  {
    keyMd5: bytes(16).map(toHex),
    scope: bytes(16).map(toHex),
    sealedKey: bytes(60),
    sealedChecksums: bytes(80),
  },
  // Objects made of parts, and objects of earlier versions, have no sealed checksums.
  { requiredKeys: ["keyMd5", "scope", "sealedKey"] },
);

const passthrough: fc.Arbitrary<Passthrough> = fc
  .array(fc.tuple(anyText, anyText), { minLength: 1, maxLength: 3 })
  .map((entries) => new Map(entries));

const metadata: fc.Arbitrary<Metadata> = fc
  .record({ httpMetadata, customMetadata, storageClass: fc.constantFrom("Standard", "InfrequentAccess") })
  .chain((plain) =>
    fc.record({ encryption, passthrough }, { requiredKeys: [] }).map((rare) => ({ ...plain, ...rare })),
  );

/** Sizes up to the largest safe integer: they are not limited to 32 bits. */
const size = fc.oneof(fc.nat(), fc.maxSafeNat(), fc.constantFrom(2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1));
const etag = fc.oneof(
  bytes(16).map(toHex),
  fc.integer({ min: 1, max: 10_000 }).map((parts) => `${emptyMd5}-${parts}`),
);
const hexId = bytes(16).map(toHex);

export const anyKey = fc.oneof(
  wellFormed(20),
  fc.constantFrom("", "/", ".", "..", "a/../b", "__proto__", "%2e", "\0", "\u{10ffff}", "x".repeat(1024)),
);

export const anyObject: fc.Arbitrary<ObjectRecord> = fc
  .tuple(metadata, fc.record({ key: anyKey, version: hexId, size, etag, uploaded: milliseconds, checksums }))
  .map(([described, fields]) => ({ ...described, ...fields }));

export const anyUpload: fc.Arbitrary<UploadRecord> = fc
  .tuple(
    metadata,
    fc.record({
      key: anyKey,
      id: hexId,
      created: milliseconds,
      state: fc.constantFrom("active" as const, "completed" as const, "aborted" as const),
      due: milliseconds,
    }),
    fc.option(fc.record({ version: hexId, etag }), { nil: undefined }),
  )
  .map(([described, fields, result]) => ({
    ...described,
    ...fields,
    ...(result === undefined ? {} : { result }),
  }));

export const anyPart: fc.Arbitrary<PartRecord> = fc.record({
  number: fc.integer({ min: 1, max: 10_000 }),
  size,
  etag: hexId,
  uploaded: milliseconds,
  blob: hexId,
  stored: size,
});

const storedBlob = fc.record({ id: hexId, size });

export const anyBody: fc.Arbitrary<Body> = fc.oneof(
  fc
    .uint8Array({ minLength: 1, maxLength: 300 })
    .map((content): Body => ({ storage: "inline", bytes: content })),
  storedBlob.map((blob): Body => ({ storage: "blob", blob })),
  fc
    .uniqueArray(fc.record({ number: fc.integer({ min: 1, max: 10_000 }), size, blob: storedBlob }), {
      minLength: 1,
      maxLength: 6,
      selector: (part) => part.number,
    })
    .map((parts): Body => ({ storage: "parts", parts: parts.sort((a, b) => a.number - b.number) })),
);

function toHex(value: Uint8Array): string {
  return Buffer.from(value).toString("hex");
}
