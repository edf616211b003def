// Headers that change what a signed request means, but that its signature does not cover.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sha256 } from "../../../src/http/sigv4.ts";
import { assertRefused, bucket, versionedScene } from "../versioned.ts";

const path = `/${bucket}/a`;
const asOf = "x-store-as-of";
const later = "2999-01-01T00:00:00Z";

test("an unsigned x-amz or x-store header is refused, in the header form and on a presigned URL", async (t) => {
  const { ask, put } = await versionedScene(t);
  await put("a", "one");
  const unsigned: readonly (readonly [string, string])[] = [
    [asOf, later],
    ["X-Store-As-Of", later],
    ["x-store-unknown", "1"],
    ["x-amz-expected-bucket-owner", "0"],
    ["x-amz-checksum-mode", "ENABLED"],
  ];
  for (const form of ["header", "query"] as const) {
    for (const headers of unsigned) {
      // A write with x-store-as-of is refused before its signature is read.
      const methods = /as-of/i.test(headers[0]) ? ["GET", "HEAD"] : ["GET", "HEAD", "PUT", "DELETE"];
      for (const method of methods) {
        const answer = await ask({ method, path, moreHeaders: headers }, { form });
        assertRefused(answer, [403, "AccessDenied"]);
        assert.match(answer.text, new RegExp(`<HeadersNotSigned>${headers[0].toLowerCase()}<`));
      }
      const listing = { method: "GET", path: `/${bucket}`, moreHeaders: headers };
      assertRefused(await ask(listing, { form }), [403, "AccessDenied"]);
    }
    const signed = await ask({ method: "GET", path, headers: { [asOf]: later } }, { form });
    assert.deepEqual([signed.status, signed.text], [200, "one"]);
    const harmless = ["range", "bytes=0-1", "if-match", "*", "accept", "*/*", "user-agent", "a"];
    const read = await ask({ method: "GET", path, moreHeaders: harmless }, { form });
    assert.deepEqual([read.status, read.text], [206, "on"]);
  }
});

test("x-amz-content-sha256 may be unsigned on a presigned URL only with the value that is signed", async (t) => {
  const { ask } = await versionedScene(t);
  const body = Buffer.from("one");
  const put = (value: string, payload = sha256(body)) =>
    ask(
      { method: "PUT", path, body, moreHeaders: ["x-amz-content-sha256", value] },
      { form: "query", payload },
    );
  assert.equal((await put(sha256(body))).status, 200);
  assert.equal((await put("UNSIGNED-PAYLOAD", "UNSIGNED-PAYLOAD")).status, 200);
  assertRefused(await put(sha256(body), "UNSIGNED-PAYLOAD"), [403, "AccessDenied"]);
  assertRefused(await put("UNSIGNED-PAYLOAD"), [403, "AccessDenied"]);
});

test("a policy sees the payload hash of a presigned URL, so that it can deny unsigned payloads", async (t) => {
  const { ask, engine } = await versionedScene(t);
  const policy = (operator: string) =>
    JSON.stringify({
      Statement: {
        Effect: "Deny",
        Principal: "*",
        Action: "s3:PutObject",
        Resource: `arn:aws:s3:::${bucket}/*`,
        Condition: { [operator]: { "s3:x-amz-content-sha256": "UNSIGNED-PAYLOAD" } },
      },
    });
  const body = Buffer.from("one");
  const put = (payload: string) => ask({ method: "PUT", path, body }, { form: "query", payload });
  await engine.changeSettings(bucket, { policy: policy("StringEquals") });
  assertRefused(await put("UNSIGNED-PAYLOAD"), [403, "AccessDenied"]);
  assert.equal((await put(sha256(body))).status, 200);
  await engine.changeSettings(bucket, { policy: policy("StringNotEquals") });
  assert.equal((await put("UNSIGNED-PAYLOAD")).status, 200);
  assertRefused(await put(sha256(body)), [403, "AccessDenied"]);
});
