// Fuzz targets of S3 requests: raw request targets, headers and queries.
import { createHash } from "node:crypto";
import { encodeCursor } from "../../../../src/model/listing.ts";
import { parseAddress, readOperation } from "../../../../src/s3/operation.ts";
import { readRequest, withMovedHeaders } from "../../../../src/s3/request.ts";
import { holds, type Target } from "../target.ts";
import {
  callOperation,
  domains,
  httpRequest,
  uploadPlaceholder as id,
  s3Outcome,
  worldRunner,
} from "./s3.ts";

function requests(name: string, samples: readonly string[], tokens: readonly string[]): Target {
  return { name, form: "bytes", samples, tokens, open: () => worldRunner(callOperation) };
}

const rawTargets: Target = {
  name: "raw targets",
  form: "bytes",
  samples: [
    "GET /bucket/a/../b?list-type=2&prefix=a%2Fb+c",
    "GET http://host/bucket/%C3%BC?partNumber=1\nhost: host",
    "PUT /key%20name?uploadId=x&partNumber=2\nhost: bucket.s3.example.com:9000\nx-amz-copy-source: /a/b",
    "GET /bucket/k?X-Amz-Signature=0&x-amz-meta-a=%C3%BC&versionId=null\nhost: s3.example.com",
    "POST /bucket?delete\nhost: h",
    "OPTIONS *",
  ],
  tokens: [
    "%2e%2e",
    "%c3%bc",
    "%e2%82%ac",
    "%f0%9f%98%80",
    "?uploads",
    "&acl",
    "s3.example.com",
    "http://",
    "HEAD ",
  ],
  open: () => ({
    run(input) {
      const request = withMovedHeaders(readRequest(httpRequest(input)));
      holds(request.path.isWellFormed(), "its path is not well-formed text");
      const { bucket, key } = parseAddress(request, domains);
      holds(request.path.endsWith(key), "its key is not in its path");
      // The signed path must be the path that is served.
      holds(
        decodeURIComponent(request.canonicalPath) === request.path,
        "the signed path differs from the served path",
      );
      const { name } = readOperation(request, domains);
      holds(
        bucket !== "" || (name === "ListBuckets" && key === ""),
        `${name} was chosen for a request without a bucket`,
      );
      return name;
    },
    outcomeOf: s3Outcome,
  }),
};

const get = "GET /bucket/key\nhost: h";

const ranges = requests(
  "range headers",
  [
    `${get}\nrange: bytes=0-9`,
    `${get}\nrange: bytes=290-`,
    `${get}\nrange: bytes=-5`,
    "HEAD /bucket/key\nrange: bytes=1-1",
    "GET /bucket/small/%C3%BC\nrange: bytes=4-4,5-6",
    "GET /bucket/key?partNumber=1\nhost: h",
    `PUT /bucket/parts?partNumber=2&uploadId=${id}\nx-amz-copy-source: bucket/key\nx-amz-copy-source-range: bytes=0-9`,
  ],
  [
    "bytes=",
    "bytes=-",
    "-",
    "0-0",
    "299",
    "300",
    "301",
    "9".repeat(400),
    `bytes=${"9".repeat(400)}-${"9".repeat(400)}`,
    ",0-1",
    "Bytes=",
  ],
);

const etag = createHash("md5").update("0123456789".repeat(30)).digest("hex");
const date = "Sun, 15 Nov 2026 12:00:00 GMT";

const conditions = requests(
  "conditional headers",
  [
    `${get}\nif-match: "${etag}"\nif-unmodified-since: ${date}`,
    `${get}\nif-none-match: W/"${etag}", "b" , *\nif-modified-since: Sunday, 15-Nov-26 12:00:00 GMT`,
    `HEAD /bucket/key\nif-modified-since: Sun Nov 15 12:00:00 2026`,
    `PUT /bucket/key\nif-none-match: *\ncontent-length: 1\n\nx`,
    `PUT /bucket/key\nif-match: ${etag}\n\nx`,
    `DELETE /bucket/key\nif-match: "${etag}"\nx-amz-if-match-size: 300\nx-amz-if-match-last-modified-time: ${date}`,
    `PUT /bucket/copy\nx-amz-copy-source: bucket/key\nx-amz-copy-source-if-match: "${etag}"\nx-amz-copy-source-if-modified-since: ${date}`,
  ],
  [
    '"',
    'W/"',
    ", ",
    "*",
    "GMT",
    " 1969 ",
    "if-match: ",
    "if-none-match: ",
    "if-modified-since: ",
    "Feb",
    "60",
  ],
);

const listings = requests(
  "listing queries",
  [
    "GET /bucket?list-type=2&prefix=s&delimiter=%2F&max-keys=1&fetch-owner=true&encoding-type=url&start-after=a",
    `GET /bucket?list-type=2&continuation-token=${encodeCursor({ kind: "key", value: "key" })}`,
    `GET /bucket?list-type=2&delimiter=/&continuation-token=${encodeCursor({ kind: "prefix", value: "small/" })}`,
    "GET /bucket?marker=key&max-keys=1000&delimiter=a",
    "GET /bucket?versions&key-marker=k&version-id-marker=null&max-keys=2",
    `GET /bucket?uploads&key-marker=a&upload-id-marker=${id}&max-uploads=1&delimiter=/`,
    "GET /?max-buckets=1&continuation-token=YnVja2V0&prefix=b",
  ],
  [
    "&prefix=",
    "&delimiter=",
    "&max-keys=",
    "&continuation-token=",
    "&encoding-type=url",
    "%00",
    "%F4%8F%BF%BF",
    "&versions",
  ],
);

const uploads = requests(
  "upload ids",
  [
    `PUT /bucket/parts?partNumber=2&uploadId=${id}\ncontent-length: 4\n\npart`,
    `GET /bucket/parts?uploadId=${id}&max-parts=1&part-number-marker=0`,
    `DELETE /bucket/parts?uploadId=${id}`,
    "POST /bucket/new?uploads\nx-amz-checksum-algorithm: CRC32\nx-amz-checksum-type: FULL_OBJECT",
    `POST /bucket/parts?uploadId=${id}\nx-amz-mp-object-size: 300\n\n<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${etag}</ETag></Part></CompleteMultipartUpload>`,
  ],
  [
    "partNumber=",
    "uploadId=",
    "10000",
    "10001",
    "&max-parts=",
    "&part-number-marker=",
    id.toUpperCase(),
    "%2e%2e%2f",
  ],
);

const customerKey = Buffer.alloc(32, 7);
const keyMd5 = createHash("md5").update(customerKey).digest("base64");
const ssec = (prefix: string) =>
  `${prefix}algorithm: AES256\n${prefix}key: ${customerKey.toString("base64")}\n${prefix}key-md5: ${keyMd5}`;
const target = "x-amz-server-side-encryption-customer-";
const source = "x-amz-copy-source-server-side-encryption-customer-";

const customerKeys = requests(
  "SSE-C headers",
  [
    `PUT /bucket/sealed\n${ssec(target)}\n\nsecret`,
    `GET /bucket/sealed\n${ssec(target)}`,
    `HEAD /bucket/key\n${ssec(target)}`,
    `PUT /bucket/copy\nx-amz-copy-source: bucket/sealed\n${ssec(source)}\n${ssec(target)}`,
    `POST /bucket/new?uploads\n${ssec(target)}`,
  ],
  ["AES256", "aws:kms", keyMd5, customerKey.toString("base64"), `${target}key: `, "="],
);

const sha256 = createHash("sha256").update("x").digest("base64");

const checksums = requests(
  "checksum headers",
  [
    `PUT /bucket/a\nx-amz-checksum-sha256: ${sha256}\n\nx`,
    "PUT /bucket/a\nx-amz-checksum-crc32: jNzoMw==\n\nx",
    `PUT /bucket/a\ncontent-md5: ${createHash("md5").update("x").digest("base64")}\nx-amz-sdk-checksum-algorithm: CRC64NVME\n\nx`,
    `PUT /bucket/a\nx-amz-content-sha256: ${createHash("sha256").update("x").digest("hex")}\ncontent-length: 1\n\nx`,
    "GET /bucket/key\nx-amz-checksum-mode: ENABLED",
    "GET /bucket/key?attributes\nx-amz-object-attributes: ETag,Checksum,ObjectParts\nx-amz-max-parts: 1\nx-amz-part-number-marker: 0",
  ],
  [
    "x-amz-checksum-",
    "sha1",
    "crc32c",
    "crc64nvme",
    "==",
    "AAAAAA==",
    "UNSIGNED-PAYLOAD",
    "STREAMING-",
    "x-amz-trailer: ",
  ],
);

const metadata = requests(
  "metadata headers",
  [
    "PUT /bucket/a\nx-amz-meta-a: b\nx-amz-meta-\xc3\xbc: \xc3\xbc\ncontent-type: text/plain\nexpires: Sun, 15 Nov 2026 12:00:00 GMT\n\nx",
    "PUT /bucket/a\ncontent-encoding: aws-chunked,gzip\ncache-control: no-store\ncontent-disposition: attachment\nx-amz-storage-class: STANDARD_IA\n\nx",
    "GET /bucket/small/%C3%BC?response-content-type=a%2Fb&response-expires=x",
    "GET /bucket/a",
    "PUT /bucket/b\nx-amz-copy-source: /bucket/small/%C3%BC?versionId=null\nx-amz-metadata-directive: REPLACE\nx-amz-meta-a: \xff",
  ],
  [
    "x-amz-meta-",
    "x-amz-tagging: a",
    "\xc3",
    "response-",
    "x-amz-copy-source: ",
    "a".repeat(8192),
    "REPLACE",
    "content-type: ",
  ],
);

const versions = requests(
  "versions, locks and tags",
  [
    "GET /locked/key?versionId=null",
    "GET /locked?versions&key-marker=key&version-id-marker=null&max-keys=1&delimiter=%2F",
    "DELETE /locked/key?versionId=00000000000000000000000000000000\nx-amz-bypass-governance-retention: true",
    "PUT /locked/a\nx-amz-object-lock-mode: GOVERNANCE\nx-amz-object-lock-retain-until-date: 2100-01-01T00:00:00Z\nx-amz-object-lock-legal-hold: ON\ncontent-md5: nc4vPwVyGsF9CjiFdTL4iQ==\n\nx",
    "PUT /locked/a\nx-amz-tagging: a=b&c=%C3%BC\n\nx",
    "PUT /locked/b\nx-amz-copy-source: /locked/key?versionId=00000000000000000000000000000000\nx-amz-tagging-directive: REPLACE\nx-amz-tagging: a",
    "GET /locked/key\nx-store-as-of: 2026-11-15T12:00:00Z",
    "GET /locked?list-type=2\nx-store-as-of: Sun, 15 Nov 2026 12:00:00 GMT",
  ],
  [
    "versionId=",
    "null",
    "x-store-as-of: ",
    "x-amz-tagging: ",
    "x-amz-object-lock-",
    "9999-12-31T23:59:59.999999999+23:59",
    "&a=",
    "%zz",
    "\xc3",
  ],
);

export const requestTargets: readonly Target[] = [
  rawTargets,
  ranges,
  conditions,
  listings,
  uploads,
  customerKeys,
  checksums,
  metadata,
  versions,
];
