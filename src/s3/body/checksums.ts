// Reads and writes checksums in the headers, trailers and XML elements of S3.
import {
  checksumLengths,
  cyclicAlgorithms,
  type ExpectedChecksum,
  isCyclic,
  type UploadChecksum,
  verifyChecksum,
  xxhAlgorithms,
} from "../../model/checksums/checksum.ts";
import { hashBytes } from "../../model/checksums/hashes.ts";
import type { Checksums, ObjectRecord } from "../../model/object.ts";
import { S3Error } from "../errors.ts";
import type { S3Request } from "../request.ts";
import type { Payload } from "./payload.ts";
import type { XmlElement } from "./xml-writer.ts";

/** Algorithms of x-amz-checksum headers. */
export const s3Algorithms = [
  ...cyclicAlgorithms,
  ...(["sha1", "sha256", "sha512", "md5"] as const),
  ...xxhAlgorithms,
] as const;
type S3Algorithm = (typeof s3Algorithms)[number];

const elements: Readonly<Record<S3Algorithm, string>> = {
  crc32: "ChecksumCRC32",
  crc32c: "ChecksumCRC32C",
  crc64nvme: "ChecksumCRC64NVME",
  sha1: "ChecksumSHA1",
  sha256: "ChecksumSHA256",
  sha512: "ChecksumSHA512",
  md5: "ChecksumMD5",
  xxhash64: "ChecksumXXHASH64",
  xxhash3: "ChecksumXXHASH3",
  xxhash128: "ChecksumXXHASH128",
};

/** Header names are built once, because header lookup by a newly built string is slow. */
const headerNames = Object.fromEntries(
  s3Algorithms.map((algorithm) => [algorithm, `x-amz-checksum-${algorithm}`]),
) as Record<S3Algorithm, string>;

const validNames = s3Algorithms.map((algorithm) => algorithm.toUpperCase()).join(", ");

export function parseAlgorithm(text: string): S3Algorithm {
  const found = s3Algorithms.find((algorithm) => algorithm === text.toLowerCase());
  if (found !== undefined) return found;
  throw new S3Error("InvalidRequest", {
    message: `Checksum algorithm provided is unsupported. Please try again with any of the valid types: [${validNames}]`,
  });
}

/** Returns the checksums from Content-MD5, an x-amz-checksum header or the trailer. */
export function expectedChecksums(
  request: S3Request,
  payload: Pick<Payload, "trailers">,
  given = givenChecksum(request, payload),
): ExpectedChecksum[] {
  const md5 = request.header("content-md5");
  return [
    ...(md5 === undefined ? [] : [{ algorithm: "md5", value: decodeMd5(md5) } as const]),
    ...(given === undefined ? [] : [given]),
  ];
}

/** Returns the checksum from an x-amz-checksum header or the trailer. */
export function givenChecksum(
  request: S3Request,
  { trailers }: Pick<Payload, "trailers">,
): ExpectedChecksum | undefined {
  const headerAlgorithms = s3Algorithms.filter(
    (algorithm) => request.header(checksumHeader(algorithm)) !== undefined,
  );
  if (headerAlgorithms.length > 1) {
    throw new S3Error("InvalidRequest", { message: "Expecting a single x-amz-checksum- header." });
  }
  const [algorithm] = headerAlgorithms;
  if (algorithm !== undefined) {
    return { algorithm, value: decodeChecksum(algorithm, request.header(checksumHeader(algorithm))!) };
  }
  const trailing = trailingAlgorithm(request);
  if (trailing !== undefined) {
    const value = () => {
      const text = trailers.get(checksumHeader(trailing));
      if (text === undefined) throw new S3Error("MalformedTrailerError");
      return decodeChecksum(trailing, text);
    };
    return { algorithm: trailing, value };
  }
  const requested = request.header("x-amz-sdk-checksum-algorithm");
  return requested === undefined ? undefined : { algorithm: parseAlgorithm(requested) };
}

function trailingAlgorithm(request: S3Request): S3Algorithm | undefined {
  const text = request.header("x-amz-trailer");
  if (text === undefined) return undefined;
  const names = text.split(",").map((name) => name.trim().toLowerCase());
  const found = s3Algorithms.find((algorithm) => names.includes(checksumHeader(algorithm)));
  if (found === undefined && names.some((name) => name.startsWith("x-amz-checksum-"))) {
    throw new S3Error("InvalidRequest", {
      message: "The value specified in the x-amz-trailer header is not supported",
    });
  }
  return found;
}

/** Verifies the checksums of a document that was read completely. */
export function checkDocument(request: S3Request, payload: Payload, bytes: Uint8Array): void {
  for (const expected of expectedChecksums(request, payload)) {
    verifyChecksum(expected, hashBytes(expected.algorithm, bytes));
  }
}

export function checksumHeader(algorithm: S3Algorithm): string {
  return headerNames[algorithm];
}

function decodeMd5(text: string): Uint8Array {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length !== checksumLengths.md5) throw new S3Error("InvalidDigest");
  return bytes;
}

function decodeChecksum(algorithm: S3Algorithm, text: string): Uint8Array {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length === checksumLengths[algorithm] && bytes.toString("base64") === text) return bytes;
  throw new S3Error("InvalidRequest", {
    message: `Value for ${checksumHeader(algorithm)} header is invalid.`,
  });
}

/** Parses the checksum of a CompleteMultipartUpload request; a composite one is `value-N`. */
export function completionChecksum(request: S3Request): ExpectedChecksum | undefined {
  const algorithm = s3Algorithms.find((one) => request.header(checksumHeader(one)) !== undefined);
  if (algorithm === undefined) return undefined;
  return {
    algorithm,
    value: decodeChecksum(algorithm, request.header(checksumHeader(algorithm))!.replace(/-\d+$/, "")),
  };
}

/** Parses the checksum type of a CompleteMultipartUpload request. */
export function completionChecksumOf(request: S3Request): UploadChecksum["of"] | undefined {
  const type = request.header("x-amz-checksum-type")?.toUpperCase();
  if (type === undefined) return undefined;
  if (type === "COMPOSITE") return "parts";
  if (type === "FULL_OBJECT") return "bytes";
  throw new S3Error("InvalidRequest", { message: "Value for x-amz-checksum-type header is invalid." });
}

/** Parses the checksum settings of CreateMultipartUpload. Only CRCs support FULL_OBJECT. */
export function uploadChecksum(request: S3Request): UploadChecksum | undefined {
  const name = request.header("x-amz-checksum-algorithm");
  const type = request.header("x-amz-checksum-type")?.toUpperCase();
  if (name === undefined) {
    if (type === undefined) return undefined;
    throw new S3Error("InvalidRequest", {
      message: "The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.",
    });
  }
  const algorithm = parseAlgorithm(name);
  const defaultType = algorithm === "crc64nvme" ? "FULL_OBJECT" : "COMPOSITE";
  const checksumType = type ?? defaultType;
  const isPossible =
    checksumType === "COMPOSITE"
      ? algorithm !== "crc64nvme"
      : checksumType === "FULL_OBJECT" && isCyclic(algorithm);
  if (!isPossible) {
    throw new S3Error("InvalidRequest", {
      message: `The ${checksumType} checksum type cannot be used with the ${name.toLowerCase()} checksum algorithm.`,
    });
  }
  return { algorithm, of: checksumType === "COMPOSITE" ? "parts" : "bytes" };
}

const typeHeader = "x-amz-checksum-type";

type ChecksumFields = Pick<ObjectRecord, "checksums" | "checksumParts" | "passthrough">;

/**
 * Returns the algorithms of the checksums that S3 clients see. Every object that was put at once has
 * an MD5, for its etag, and shows it only if its writer asked for it.
 */
export function shownAlgorithms({ checksums, passthrough }: ChecksumFields): S3Algorithm[] {
  const found = s3Algorithms.filter((algorithm) => checksums[algorithm] !== undefined);
  return passthrough?.get("checksum") === "md5" ? found : found.filter((algorithm) => algorithm !== "md5");
}

export function checksumHeaders(record: ChecksumFields): [string, string][] {
  const values = shownAlgorithms(record).map((algorithm): [string, string] => [
    checksumHeader(algorithm),
    formatChecksum(record, algorithm),
  ]);
  return values.length === 0 ? [] : [...values, [typeHeader, toChecksumType(record)]];
}

/** Returns the checksum headers of one part; the checksum type comes from `whole`. */
export function partChecksumHeaders(
  checksums: Checksums | undefined,
  whole?: ChecksumFields,
): [string, string][] {
  const values = partAlgorithms(checksums).map((algorithm): [string, string] => [
    checksumHeader(algorithm),
    formatChecksum({ checksums: checksums! }, algorithm),
  ]);
  return whole === undefined || values.length === 0
    ? values
    : [...values, [typeHeader, toChecksumType(whole)]];
}

/** A part has only the checksum of its upload, so an MD5 was asked for. */
function partAlgorithms(checksums: Checksums | undefined): S3Algorithm[] {
  return s3Algorithms.filter((algorithm) => checksums?.[algorithm] !== undefined);
}

export function checksumElements(record: ChecksumFields): XmlElement[] {
  return toElements(record, record);
}

/** GetObjectAttributes shows composite checksums too, but without the number of parts. */
export function attributeChecksumElements(record: ChecksumFields): XmlElement[] {
  return toElements(record, { checksums: record.checksums });
}

function toElements(record: ChecksumFields, formatted: Parameters<typeof formatChecksum>[0]): XmlElement[] {
  const values = shownAlgorithms(record).map(
    (algorithm): XmlElement => [elements[algorithm], formatChecksum(formatted, algorithm)],
  );
  return values.length === 0 ? [] : [...values, ["ChecksumType", toChecksumType(record)]];
}

export function partChecksumElements(checksums: Checksums | undefined): XmlElement[] {
  return partAlgorithms(checksums).map((algorithm) => [
    elements[algorithm],
    formatChecksum({ checksums: checksums! }, algorithm),
  ]);
}

export function toChecksumType({ checksumParts }: Pick<ObjectRecord, "checksumParts">): string {
  return checksumParts === undefined ? "FULL_OBJECT" : "COMPOSITE";
}

function formatChecksum(
  { checksums, checksumParts }: Pick<ObjectRecord, "checksums" | "checksumParts">,
  algorithm: S3Algorithm,
): string {
  const value = Buffer.from(checksums[algorithm]!).toString("base64");
  return checksumParts === undefined ? value : `${value}-${checksumParts}`;
}

/** Parses the checksum of a Part element in a CompleteMultipartUpload document. */
export function partChecksum(
  readElement: (name: string) => string | undefined,
): ExpectedChecksum | undefined {
  for (const algorithm of s3Algorithms) {
    const text = readElement(elements[algorithm]);
    if (text !== undefined) return { algorithm, value: decodeChecksum(algorithm, text) };
  }
  return undefined;
}
