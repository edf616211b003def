// Builds a request for every operation of the S3 API. Operations are detected with the server's own
// table, so that new operations are included without a change here.
import assert from "node:assert/strict";
import type { HttpRequest } from "../../src/http/server/listen.ts";
import { readOperation } from "../../src/s3/operation.ts";
import { type OperationName, operationNames } from "../../src/s3/operation-rights.ts";
import { readRequest } from "../../src/s3/request.ts";
import type { Raw } from "../s3/raw.ts";

const methods = ["GET", "HEAD", "PUT", "POST", "DELETE"];
const subresources = (
  "abac accelerate acl analytics attributes cors delete encryption intelligent-tiering inventory legal-hold lifecycle " +
  "location logging metrics notification object-lock ownershipControls partNumber policy policyStatus publicAccessBlock " +
  "replication requestPayment restore retention select tagging torrent uploadId uploads versioning versions website"
).split(" ");

const cors =
  "<CORSConfiguration><CORSRule><AllowedMethod>GET</AllowedMethod><AllowedOrigin>*</AllowedOrigin></CORSRule></CORSConfiguration>";
const lifecycle =
  "<LifecycleConfiguration><Rule><ID>r</ID><Prefix/><Status>Enabled</Status><Expiration><Days>1</Days></Expiration></Rule></LifecycleConfiguration>";
const tagging = "<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>";
const bodies: Readonly<Partial<Record<OperationName, string>>> = {
  PutObject: "stolen",
  UploadPart: "stolen",
  PutBucketCors: cors,
  PutBucketLifecycle: lifecycle,
  PutBucketVersioning: "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>",
  PutBucketTagging: tagging,
  PutBucketPolicy:
    '{"Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:*","Resource":["arn:aws:s3:::bucket/*","arn:aws:s3:::bucket"]}]}',
  PutPublicAccessBlock: "<PublicAccessBlockConfiguration/>",
  PutBucketOwnershipControls:
    "<OwnershipControls><Rule><ObjectOwnership>BucketOwnerEnforced</ObjectOwnership></Rule></OwnershipControls>",
  PutBucketNotification: "<NotificationConfiguration/>",
  PutObjectTagging: tagging,
  DeleteObjects: "<Delete><Object><Key>there</Key></Object></Delete>",
  CompleteMultipartUpload:
    '<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"x"</ETag></Part></CompleteMultipartUpload>',
};

/** The object under attack, with an open upload of its key. */
export interface AttackedObject {
  readonly bucket: string;
  readonly key: string;
  readonly uploadId: string;
  /** Source of copies, `/bucket/key`. */
  readonly copySource: string;
}

export type Requests = Readonly<Record<Exclude<OperationName, "PostObject">, Raw>>;

export function requestsFor(object: AttackedObject): Requests {
  const found: Partial<Record<OperationName, Raw>> = {};
  const queries: [string, string][][] = [
    [],
    [["list-type", "2"]],
    ...subresources.map((name): [string, string][] => [[name, parameterValue(name, object)]]),
    [
      ["partNumber", "1"],
      ["uploadId", object.uploadId],
    ],
  ];
  const copies: Readonly<Record<string, string>>[] = [{}, { "x-amz-copy-source": object.copySource }];
  for (const path of ["/", `/${object.bucket}`, `/${object.bucket}/${object.key}`]) {
    for (const method of methods) {
      for (const query of queries) {
        for (const headers of copies) {
          const name = findOperation({ method, path, query, headers });
          // Keep the first request of each operation: it has the fewest parameters.
          if (name !== undefined) found[name] ??= withBody(name, { method, path, query, headers });
        }
      }
    }
  }
  delete found.PostObject;
  const expected = operationNames.filter((name) => name !== "PostObject");
  assert.deepEqual(Object.keys(found).sort(), expected.sort(), "there is a request for every operation");
  return found as Requests;
}

function parameterValue(name: string, { uploadId }: AttackedObject): string {
  if (name === "uploadId") return uploadId;
  return name === "partNumber" ? "1" : "";
}

function withBody(name: OperationName, raw: Raw): Raw {
  const body = bodies[name];
  const attributes = name === "GetObjectAttributes" ? { "x-amz-object-attributes": "ETag" } : {};
  const headers = { ...raw.headers, ...attributes };
  return body === undefined ? { ...raw, headers } : { ...raw, headers, body: Buffer.from(body) };
}

function findOperation({ method, path, query = [], headers = {} }: Raw): OperationName | undefined {
  const target = `${path}?${query.map(([name, value]) => `${name}=${value}`).join("&")}`;
  const http: HttpRequest = {
    ...{ method, target, rawHeaders: Object.entries(headers).flat(), scheme: "http", hasBody: false },
    address: () => "",
    header: (name) => headers[name],
    async *body() {},
    bytesRead: () => 0,
    onDisconnect: () => {},
  };
  try {
    return readOperation(readRequest(http), []).name;
  } catch {
    return undefined;
  }
}
