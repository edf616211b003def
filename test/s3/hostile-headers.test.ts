// Headers and form fields that are valid individually but expensive in large numbers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkPolicy } from "../../src/s3/auth/post-policy.ts";
import { directScene } from "./direct.ts";
import { signRaw } from "./raw.ts";

test("a header that SignedHeaders lists twice is refused before anything is hashed", async (t) => {
  const { send, key } = await directScene(t);
  for (const form of ["header", "query"] as const) {
    const raw = { method: "GET", path: "/", headers: { "x-a": "v".repeat(20_000) } };
    const signed = signRaw("http://s3.test", raw, { key, form });
    const repeated = (text: string) => text.replace(/host;x-a/, `host${";x-a".repeat(5000)}`);
    const headers = Object.fromEntries(
      Object.entries(signed.headers).map(([name, value]) => [name, repeated(value)]),
    );
    const query = signed.query.map(([name, value]) => [name, repeated(value)] as const);
    const answer = await send({ ...signed, headers, query });
    const code = form === "header" ? "AuthorizationHeaderMalformed" : "AuthorizationQueryParametersError";
    assert.deepEqual([answer.status, answer.code], [400, code]);
    assert.ok(answer.text.length < 10_000, `${answer.text.length} characters`);
  }
});

test("a form with more than 100 content types does not match a policy on the content type", () => {
  const document = {
    expiration: "2099-01-01T00:00:00Z",
    conditions: [["starts-with", "$Content-Type", "image/"]],
  };
  const policy = Buffer.from(JSON.stringify(document)).toString("base64");
  const check = (count: number) =>
    checkPolicy(policy, new Map([["content-type", Array(count).fill("image/png").join(",")]]), 0);
  check(100);
  assert.throws(() => check(101), { code: "AccessDenied" });
});
