// Sends every operation with every kind of wrong authorization: each is refused with the right
// code, and the store does not change.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type TestContext, test } from "node:test";
import { type OperationName, operationNames } from "../../../src/s3/operation-rights.ts";
import {
  type ChunkFault,
  type Raw,
  type RawAnswer,
  sendRaw,
  signChunked,
  signRaw,
  streamingForms,
} from "../raw.ts";
import { type Key, type S3Scene, s3Scene } from "../scene.ts";

const text = (body: string) => Buffer.from(body);
const lifecycleXml =
  "<LifecycleConfiguration><Rule><ID>r</ID><Prefix/><Status>Enabled</Status><Expiration><Days>1</Days></Expiration></Rule></LifecycleConfiguration>";
const corsXml =
  "<CORSConfiguration><CORSRule><AllowedMethod>GET</AllowedMethod><AllowedOrigin>*</AllowedOrigin></CORSRule></CORSConfiguration>";

const policyJson = JSON.stringify({
  Statement: [
    { Effect: "Allow", Principal: "*", Action: "s3:GetObject", Resource: "arn:aws:s3:::bucket/open/*" },
  ],
});
const publicAccessXml =
  "<PublicAccessBlockConfiguration><BlockPublicPolicy>true</BlockPublicPolicy></PublicAccessBlockConfiguration>";
const ownershipXml =
  "<OwnershipControls><Rule><ObjectOwnership>BucketOwnerEnforced</ObjectOwnership></Rule></OwnershipControls>";
const notificationXml = "<NotificationConfiguration/>";
const encryptionXml =
  "<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>";

const taggingXml = "<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>";

/** A document with its Content-MD5, which operations on locks require. */
function withMd5(document: string): Pick<Raw, "body" | "headers"> {
  const body = text(document);
  return { body, headers: { "content-md5": createHash("md5").update(body).digest("base64") } };
}

/** A request for each operation; writes would change the store if they were not refused. */
function requests(uploadId: string): Record<Exclude<OperationName, "PostObject">, Raw> {
  const bucket = (method: string, ...query: [string, string][]): Raw => ({ method, path: "/bucket", query });
  const object = (method: string, ...query: [string, string][]): Raw => ({
    method,
    path: "/bucket/there",
    query,
  });
  const upload: [string, string] = ["uploadId", uploadId];
  return {
    ListBuckets: { method: "GET", path: "/" },
    CreateBucket: { method: "PUT", path: "/new-bucket" },
    HeadBucket: bucket("HEAD"),
    DeleteBucket: { method: "DELETE", path: "/empty-bucket" },
    GetBucketLocation: bucket("GET", ["location", ""]),
    GetBucketAcl: bucket("GET", ["acl", ""]),
    GetBucketVersioning: bucket("GET", ["versioning", ""]),
    PutBucketVersioning: {
      ...bucket("PUT", ["versioning", ""]),
      body: text("<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"),
    },
    GetBucketTagging: bucket("GET", ["tagging", ""]),
    PutBucketTagging: { ...bucket("PUT", ["tagging", ""]), body: text(taggingXml) },
    DeleteBucketTagging: bucket("DELETE", ["tagging", ""]),
    GetBucketPolicy: bucket("GET", ["policy", ""]),
    PutBucketPolicy: { ...bucket("PUT", ["policy", ""]), body: text(policyJson) },
    DeleteBucketPolicy: bucket("DELETE", ["policy", ""]),
    PutPublicAccessBlock: { ...bucket("PUT", ["publicAccessBlock", ""]), body: text(publicAccessXml) },
    DeletePublicAccessBlock: bucket("DELETE", ["publicAccessBlock", ""]),
    PutBucketAcl: { ...bucket("PUT", ["acl", ""]), headers: { "x-amz-acl": "private" } },
    PutObjectAcl: { ...object("PUT", ["acl", ""]), headers: { "x-amz-acl": "private" } },
    PutBucketOwnershipControls: { ...bucket("PUT", ["ownershipControls", ""]), body: text(ownershipXml) },
    DeleteBucketOwnershipControls: bucket("DELETE", ["ownershipControls", ""]),
    PutBucketNotification: { ...bucket("PUT", ["notification", ""]), body: text(notificationXml) },
    GetBucketReplication: bucket("GET", ["replication", ""]),
    GetBucketRequestPayment: bucket("GET", ["requestPayment", ""]),
    GetObjectLockConfiguration: bucket("GET", ["object-lock", ""]),
    PutObjectLockConfiguration: {
      ...bucket("PUT", ["object-lock", ""]),
      ...withMd5(
        "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>",
      ),
    },
    GetBucketEncryption: bucket("GET", ["encryption", ""]),
    PutBucketEncryption: { ...bucket("PUT", ["encryption", ""]), body: text(encryptionXml) },
    DeleteBucketEncryption: bucket("DELETE", ["encryption", ""]),
    GetPublicAccessBlock: bucket("GET", ["publicAccessBlock", ""]),
    GetBucketOwnershipControls: bucket("GET", ["ownershipControls", ""]),
    GetBucketNotification: bucket("GET", ["notification", ""]),
    GetBucketLogging: bucket("GET", ["logging", ""]),
    GetBucketWebsite: bucket("GET", ["website", ""]),
    GetBucketAccelerate: bucket("GET", ["accelerate", ""]),
    GetBucketPolicyStatus: bucket("GET", ["policyStatus", ""]),
    GetBucketCors: bucket("GET", ["cors", ""]),
    PutBucketCors: { ...bucket("PUT", ["cors", ""]), body: text(corsXml) },
    DeleteBucketCors: bucket("DELETE", ["cors", ""]),
    GetBucketLifecycle: bucket("GET", ["lifecycle", ""]),
    PutBucketLifecycle: { ...bucket("PUT", ["lifecycle", ""]), body: text(lifecycleXml) },
    DeleteBucketLifecycle: bucket("DELETE", ["lifecycle", ""]),
    ListObjects: bucket("GET"),
    ListObjectsV2: bucket("GET", ["list-type", "2"]),
    ListObjectVersions: bucket("GET", ["versions", ""]),
    ListMultipartUploads: bucket("GET", ["uploads", ""]),
    DeleteObjects: {
      ...bucket("POST", ["delete", ""]),
      body: text("<Delete><Object><Key>there</Key></Object></Delete>"),
    },
    GetObject: object("GET"),
    HeadObject: object("HEAD"),
    GetObjectAttributes: {
      ...object("GET", ["attributes", ""]),
      headers: { "x-amz-object-attributes": "ETag" },
    },
    GetObjectAcl: object("GET", ["acl", ""]),
    GetObjectTagging: object("GET", ["tagging", ""]),
    PutObjectTagging: { ...object("PUT", ["tagging", ""]), body: text(taggingXml) },
    DeleteObjectTagging: object("DELETE", ["tagging", ""]),
    GetObjectRetention: object("GET", ["retention", ""]),
    PutObjectRetention: {
      ...object("PUT", ["retention", ""]),
      ...withMd5(
        "<Retention><Mode>GOVERNANCE</Mode><RetainUntilDate>2100-01-01T00:00:00Z</RetainUntilDate></Retention>",
      ),
    },
    GetObjectLegalHold: object("GET", ["legal-hold", ""]),
    PutObjectLegalHold: {
      ...object("PUT", ["legal-hold", ""]),
      ...withMd5("<LegalHold><Status>ON</Status></LegalHold>"),
    },
    PutObject: { ...object("PUT"), body: text("other".repeat(4000)) },
    CopyObject: { method: "PUT", path: "/bucket/copy", headers: { "x-amz-copy-source": "/bucket/there" } },
    DeleteObject: object("DELETE"),
    CreateMultipartUpload: object("POST", ["uploads", ""]),
    UploadPart: { ...object("PUT", ["partNumber", "1"], upload), body: text("part".repeat(5000)) },
    UploadPartCopy: {
      ...object("PUT", ["partNumber", "2"], upload),
      headers: { "x-amz-copy-source": "/bucket/there" },
    },
    CompleteMultipartUpload: {
      ...object("POST", upload),
      body: text(
        '<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"x"</ETag></Part></CompleteMultipartUpload>',
      ),
    },
    AbortMultipartUpload: object("DELETE", upload),
    ListParts: object("GET", upload),
  };
}

interface Prepared {
  readonly s3: S3Scene;
  readonly raws: Record<string, Raw>;
  /** The visible state of the store as text. */
  snapshot(): Promise<string>;
}

async function prepare(t: TestContext): Promise<Prepared> {
  const s3 = await s3Scene(t);
  const { url, key } = s3;
  const call = async (raw: Raw) => {
    const answer = await sendRaw(url, signRaw(url, raw, { key, form: "header" }));
    assert.ok(answer.status < 300, `${raw.method} ${raw.path}: ${answer.text}`);
    return answer.text;
  };
  await call({ method: "PUT", path: "/empty-bucket" });
  await call({ method: "PUT", path: "/bucket/there", body: text("the object") });
  const created = await call({ method: "POST", path: "/bucket/there", query: [["uploads", ""]] });
  const uploadId = /<UploadId>(\w+)</.exec(created)![1]!;
  await call({ method: "PUT", path: "/bucket", query: [["cors", ""]], body: text(corsXml) });
  await call({ method: "PUT", path: "/bucket", query: [["lifecycle", ""]], body: text(lifecycleXml) });
  const raws = requests(uploadId);
  const reads = [
    "ListBuckets",
    "ListObjects",
    "ListParts",
    "ListMultipartUploads",
    "GetBucketCors",
    "GetBucketLifecycle",
    "GetObject",
  ] as const;
  return {
    s3,
    raws,
    async snapshot() {
      const seen: string[] = [];
      for (const name of reads) seen.push(await call(raws[name]));
      return seen.join("\n");
    },
  };
}

/** Checks status and error code. A response to HEAD has no body, so it has no error code. */
function assertRefused(
  raw: Raw,
  answer: RawAnswer,
  status: number,
  code: string | RegExp,
  what: string,
): void {
  const message = `${what}: ${answer.status} ${answer.text}`;
  assert.equal(answer.status, status, message);
  if (raw.method !== "HEAD")
    assert.match(answer.code ?? "", typeof code === "string" ? new RegExp(`^${code}$`) : code, message);
}

test("every operation with a missing, wrong or forged authorization is refused, and the store does not change", async (t) => {
  const { s3, raws, snapshot } = await prepare(t);
  const { url, key } = s3;
  assert.deepEqual(Object.keys(raws).sort(), operationNames.filter((name) => name !== "PostObject").sort());
  const stranger = await s3.newKey("--account", "stranger");
  const minutes = (count: number) => Date.now() + count * 60_000;
  const unknown: Key = { ...key, accessKeyId: "STOREAAAAAAAAAAAAAAA" };
  const wrongSecret: Key = { ...key, secretAccessKey: "x".repeat(40) };
  const before = await snapshot();

  for (const [i, [name, raw]] of Object.entries(raws).entries()) {
    await t.test(`${name} with a wrong authorization is refused`, async () => {
      // A separate address for each operation: wrong signatures from one address are throttled.
      const from = `127.0.1.${i + 1}`;
      const refuse = async (what: string, sent: Raw, status: number, code: string | RegExp) =>
        assertRefused(raw, await sendRaw(url, { ...sent, from }), status, code, what);
      await refuse("no authorization", raw, 403, "AccessDenied");
      await refuse(
        "signature version 2",
        { ...raw, headers: { ...raw.headers, authorization: `AWS ${key.accessKeyId}:abc` } },
        400,
        "InvalidRequest",
      );
      await refuse(
        "another scheme",
        { ...raw, headers: { ...raw.headers, authorization: "Bearer abc" } },
        400,
        "InvalidArgument",
      );
      for (const form of ["header", "query"] as const) {
        const signed = (more: Partial<Parameters<typeof signRaw>[2]> = {}, changed: Raw = raw) =>
          signRaw(url, changed, { key, form, ...more });
        await refuse(`${form}: unknown key`, signed({ key: unknown }), 403, "InvalidAccessKeyId");
        await refuse(`${form}: wrong secret`, signed({ key: wrongSecret }), 403, "SignatureDoesNotMatch");
        await refuse(
          `${form}: an invalid region`,
          signed({ region: "eu west" }),
          400,
          /^Authorization(HeaderMalformed|QueryParametersError)$/,
        );
        const late = form === "header" ? "RequestTimeTooSkewed" : "AccessDenied";
        await refuse(`${form}: too old`, signed({ time: minutes(-20), expires: 60 }), 403, late);
        await refuse(`${form}: from the future`, signed({ time: minutes(20) }), 403, late);
        const extra = signed({}, { ...raw, headers: { ...raw.headers, "x-test": "one" } });
        await refuse(
          `${form}: altered header`,
          { ...extra, headers: { ...extra.headers, "x-test": "two" } },
          403,
          "SignatureDoesNotMatch",
        );
        const plain = signed();
        await refuse(
          `${form}: altered query`,
          { ...plain, query: [...plain.query, ["max-keys", "1"]] },
          403,
          "SignatureDoesNotMatch",
        );
        await refuse(
          `${form}: altered path`,
          { ...plain, path: `${plain.path === "/" ? "/bucket" : plain.path}x` },
          403,
          /^(SignatureDoesNotMatch|AccessDenied)$/,
        );
        await refuse(
          `${form}: unsigned x-amz header`,
          { ...plain, headers: { ...plain.headers, "x-amz-meta-more": "1" } },
          403,
          "AccessDenied",
        );
        await refuse(
          `${form}: security token`,
          { ...plain, headers: { ...plain.headers, "x-amz-security-token": "1" } },
          400,
          "InvalidToken",
        );
        if (name !== "ListBuckets" && name !== "CreateBucket") {
          await refuse(`${form}: another account`, signed({ key: stranger }), 403, "AccessDenied");
        }
        if (raw.body !== undefined) {
          const hashed = form === "header" ? plain : signed({ payload: "0".repeat(64) });
          const altered = Buffer.from(raw.body);
          altered[0]! ^= 1;
          await refuse(
            `${form}: altered body`,
            { ...hashed, body: altered },
            400,
            /^XAmzContentSHA256Mismatch$/,
          );
        }
      }
    });
  }
  assert.equal(await snapshot(), before);
});

test("malformed chunks are refused in every streaming form, and the store does not change", async (t) => {
  const { s3, raws, snapshot } = await prepare(t);
  const { url, key } = s3;
  const before = await snapshot();
  const faults: ChunkFault[] = [
    "truncated",
    "oversized",
    "wrong signature",
    "no end",
    "no trailer",
    "bytes after the end",
  ];
  for (const name of [
    "PutObject",
    "UploadPart",
    "DeleteObjects",
    "PutBucketCors",
    "CompleteMultipartUpload",
  ] as const) {
    const raw = raws[name]!;
    for (const [payload, { isSigned, hasTrailer }] of Object.entries(streamingForms)) {
      for (const fault of faults) {
        if ((fault === "no trailer" && !hasTrailer) || (fault === "wrong signature" && !isSigned)) continue;
        await t.test(`${name} with ${payload} is refused (fault: ${fault})`, async () => {
          const answer = await sendRaw(url, signChunked(url, raw, key, payload, fault));
          const code =
            fault === "wrong signature"
              ? /^SignatureDoesNotMatch$/
              : /^(IncompleteBody|InvalidRequest|SignatureDoesNotMatch)$/;
          assert.ok(answer.status === 400 || answer.status === 403, `${answer.status} ${answer.text}`);
          assert.match(answer.code ?? "", code, answer.text);
        });
      }
    }
  }
  assert.equal(await snapshot(), before);
});

/** The right that each operation requires. Default: "list". */
const needs: Readonly<Record<string, "read" | "write" | "list" | "admin" | "nothing">> = {
  ListBuckets: "nothing",
  CreateBucket: "admin",
  DeleteBucket: "admin",
  GetBucketCors: "admin",
  PutBucketCors: "admin",
  DeleteBucketCors: "admin",
  GetBucketLifecycle: "admin",
  PutBucketLifecycle: "admin",
  DeleteBucketLifecycle: "admin",
  GetObject: "read",
  HeadObject: "read",
  GetObjectAttributes: "read",
  GetObjectAcl: "read",
  GetObjectTagging: "read",
  PutObjectTagging: "write",
  DeleteObjectTagging: "write",
  GetObjectRetention: "read",
  PutObjectRetention: "write",
  GetObjectLegalHold: "read",
  PutObjectLegalHold: "write",
  PutBucketVersioning: "admin",
  PutBucketTagging: "admin",
  DeleteBucketTagging: "admin",
  PutObjectLockConfiguration: "admin",
  PutBucketPolicy: "admin",
  DeleteBucketPolicy: "admin",
  PutPublicAccessBlock: "admin",
  DeletePublicAccessBlock: "admin",
  PutBucketAcl: "admin",
  PutBucketOwnershipControls: "admin",
  DeleteBucketOwnershipControls: "admin",
  PutBucketNotification: "admin",
  PutObjectAcl: "write",
  DeleteObjects: "write",
  PutObject: "write",
  CopyObject: "write",
  DeleteObject: "write",
  CreateMultipartUpload: "write",
  UploadPart: "write",
  UploadPartCopy: "write",
  CompleteMultipartUpload: "write",
  AbortMultipartUpload: "write",
  ListParts: "write",
};

test("an operation is refused if the access key lacks the required right", async (t) => {
  const { s3, raws, snapshot } = await prepare(t);
  const { url } = s3;
  const before = await snapshot();
  const keys = {
    read: await s3.newKey("--grant", "bucket:read"),
    write: await s3.newKey("--grant", "bucket:write"),
    list: await s3.newKey("--grant", "bucket:list"),
  };
  for (const [name, raw] of Object.entries(raws)) {
    const need = needs[name] ?? "list";
    if (need === "nothing") continue;
    await t.test(`${name} requires the right ${need}`, async () => {
      for (const [right, key] of Object.entries(keys)) {
        if (right === need) continue;
        const answer = await sendRaw(url, signRaw(url, raw, { key, form: "header" }));
        assertRefused(raw, answer, 403, "AccessDenied", `with ${right}`);
      }
    });
  }
  await t.test("a copy requires the right to read its source", async () => {
    for (const name of ["CopyObject", "UploadPartCopy"]) {
      const raw = raws[name]!;
      const answer = await sendRaw(url, signRaw(url, raw, { key: keys.write, form: "header" }));
      assertRefused(raw, answer, 403, "AccessDenied", name);
    }
  });
  assert.equal(await snapshot(), before);
});
