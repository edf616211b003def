// Headers and form fields that are valid individually but expensive in large numbers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkPolicy } from "../../src/s3/auth/post-policy.ts";
import { directScene } from "./direct.ts";
import { signRaw } from "./raw.ts";
import { stsScene } from "./sts/scene.ts";

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

test("a request with more than 1,000 parameters is refused before they are decoded", async (t) => {
  const { ask, call } = await stsScene(t);
  const query = (count: number) => Array.from({ length: count }, (_, index) => [`x-${index}`, "a"] as const);
  assert.equal((await ask({ method: "GET", path: "/", query: query(1000) })).status, 200);
  const refused = await ask({ method: "GET", path: "/", query: query(1001) });
  assert.deepEqual([refused.status, refused.code], [400, "InvalidRequest"]);
  const sts = await call(Object.fromEntries(query(1000)));
  assert.equal(sts.status, 400);
  assert.match(sts.text, /<Code>ValidationError<.*more than 1000 parameters/s);
});

test("a list of more signed headers than a request can have is refused", async (t) => {
  const { send, key } = await directScene(t);
  for (const form of ["header", "query"] as const) {
    const signed = signRaw("http://s3.test", { method: "GET", path: "/" }, { key, form });
    const names = Array.from({ length: 20_000 }, (_, index) => `h${index}`).join(";");
    const longer = (text: string) => text.replace(/SignedHeaders=host[^,]*/, `SignedHeaders=${names}`);
    const headers = Object.fromEntries(
      Object.entries(signed.headers).map(([name, value]) => [name, longer(value)]),
    );
    const query = signed.query.map(
      ([name, value]) => [name, name === "X-Amz-SignedHeaders" ? names : value] as const,
    );
    const { status, text } = await send({ ...signed, headers, query });
    assert.ok(status === 400 || status === 403, text);
    assert.ok(text.length < 10_000, `${text.length} characters`);
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
