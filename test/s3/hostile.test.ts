// Inputs that try to break the parsers of S3 requests: each is refused quickly with an S3 error.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createTokenVerifier } from "../../src/access/temporary/verify.ts";
import { rangeFromHeader } from "../../src/http/headers.ts";
import type { HttpRequest } from "../../src/http/server/listen.ts";
import { resolveRange } from "../../src/model/range.ts";
import { authenticate } from "../../src/s3/auth/authenticate.ts";
import { checkPolicy } from "../../src/s3/auth/post-policy.ts";
import { expirationHeader } from "../../src/s3/headers/object-headers.ts";
import { readOperation } from "../../src/s3/operation.ts";
import { readRequest } from "../../src/s3/request.ts";
import { objectRecord } from "../support/samples.ts";

function request(target: string, headers: readonly (readonly [string, string])[] = []) {
  const http: HttpRequest = {
    method: "GET",
    target,
    rawHeaders: headers.flat(),
    scheme: "http",
    address: () => "",
    header: (name) => headers.find(([one]) => one === name)?.[1],
    hasBody: false,
    async *body() {},
    bytesRead: () => 0,
    onDisconnect: () => {},
  };
  return readRequest(http);
}

test("a range with 400-digit numbers is unsatisfiable or limited to the object's size", () => {
  const huge = "9".repeat(400);
  for (const text of [`bytes=${huge}-${huge}`, `bytes=${huge}-`, `bytes=20-${huge}`]) {
    assert.throws(() => resolveRange(rangeFromHeader(text) ?? { offset: 0 }, 10), /not satisfiable/, text);
  }
  assert.deepEqual(resolveRange(rangeFromHeader(`bytes=-${huge}`), 10), { offset: 0, length: 10 });
  assert.deepEqual(resolveRange(rangeFromHeader(`bytes=3-${huge}`), 10), { offset: 3, length: 7 });
});

test("content-length-range in a policy accepts only whole numbers, not nested lists or other values", () => {
  const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
  for (const value of [deep, "null", "true", "{}", '"x"', "1.5"]) {
    const text = `{"expiration":"2100-01-01T00:00:00Z","conditions":[["content-length-range",${value},5]]}`;
    assert.throws(
      () => checkPolicy(Buffer.from(text).toString("base64"), new Map(), 0),
      /^S3Error: Invalid Policy: content-length-range must/,
    );
  }
});

test("a request with 20,000 equal headers and a wrong signature is refused because of its signature", async () => {
  const credential =
    "AWS4-HMAC-SHA256 Credential=A/20261115/auto/s3/aws4_request, SignedHeaders=host;x-amz-date, Signature=0";
  const headers: (readonly [string, string])[] = [
    ["host", "h"],
    ["x-amz-date", "20261115T120000Z"],
    ["authorization", credential],
    ...Array.from({ length: 20_000 }, () => ["a", ""] as const),
  ];
  const known = { accessKeyId: "A", account: "default", grants: undefined, created: 0, expires: undefined };
  const secrets = {
    state: "active" as const,
    previousUntil: undefined,
    secretAccessKey: "s",
    secrets: ["s"],
  };
  const options = {
    credentials: { find: async () => ({ ...known, ...secrets }) },
    tokens: createTokenVerifier(),
    now: () => Date.UTC(2026, 10, 15, 12),
  };
  await assert.rejects(authenticate(request("/bucket/key", headers), options), /request signature/);
});

test("a path with a key but an empty bucket name is refused, not treated as ListBuckets", () => {
  for (const target of ["//key", "//", "//a/b?list-type=2"]) {
    const read = () => readOperation(request(target), []);
    if (target === "//") assert.equal(read().name, "ListBuckets");
    else assert.throws(read, { code: "InvalidBucketName" });
  }
});

test("an expiry later than the last valid date is not reported in x-amz-expiration", () => {
  const expires = (days: number) => {
    const lifecycle = [{ id: "far", isEnabled: true, prefix: "", expire: { days } }];
    const record = { name: "bucket", created: 0, storageClass: "Standard", account: "default" } as const;
    return expirationHeader({ bucket: { ...record, settings: { lifecycle } } }, objectRecord("key"));
  };
  assert.deepEqual(expires(999_999_999), []);
  assert.match(expires(1)[0]![1], /^expiry-date="\w{3}, .* GMT", rule-id="far"$/);
});

test("a policy with a key prefix refuses keys with white space before the prefix", () => {
  const policy = '{"expiration":"2100-01-01T00:00:00Z","conditions":[["starts-with","$key","form/"]]}';
  const check = (key: string) =>
    checkPolicy(Buffer.from(policy).toString("base64"), new Map([["key", key]]), 0);
  assert.deepEqual(check("form/a"), { minBytes: 0, maxBytes: Number.POSITIVE_INFINITY });
  for (const key of [" form/a", "\nform/a", "\tform/a", "\u00a0form/a", "FORM/a"]) {
    assert.throws(() => check(key), { code: "AccessDenied" }, JSON.stringify(key));
  }
});

test("a POST form with several content types is refused unless each of them matches the policy", () => {
  const policy =
    '{"expiration":"2100-01-01T00:00:00Z","conditions":[["starts-with","$Content-Type","image/"]]}';
  const encoded = Buffer.from(policy).toString("base64");
  const check = (type: string) => checkPolicy(encoded, new Map([["content-type", type]]), 0);
  assert.equal(check("image/png, image/gif").minBytes, 0);
  assert.throws(() => check("image/png, text/html"), { code: "AccessDenied" });
});
