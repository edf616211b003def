// Tests session tokens: their content, their signature, and the limits of both.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseGrant } from "../../../src/access/grants.ts";
import {
  createTemporaryCredentials,
  deriveSecret,
  type Issuer,
  macOf,
  maxTokenLength,
  splitToken,
  TemporaryCredentialsError,
} from "../../../src/access/temporary/token.ts";
import { parseTokenContent } from "../../../src/access/temporary/token-content.ts";
import { createTokenVerifier, tokenFault } from "../../../src/access/temporary/verify.ts";

const now = Date.UTC(2026, 10, 17, 12);
const issuer: Issuer = { id: "STOREABCDEFGHIJKLMNO", secret: "parent-secret" };
const grants = [parseGrant("photos/2026/*:read,append"), parseGrant("photos/a.jpg:read")];
const make = (options: object = {}) =>
  createTemporaryCredentials(issuer, { grants, lifetimeSeconds: 3600, now, ...options });

function verify(token: string, secrets = [issuer.secret]) {
  const verifier = createTokenVerifier();
  const unverified = verifier.read(token);
  return unverified && verifier.verify(unverified, secrets);
}

test("a token contains its issuer, grants and times, and no secret", () => {
  const made = make({ operations: ["GetObject"] });
  assert.match(made.accessKeyId, /^TEMP[A-Z2-7]{16}$/);
  assert.equal(made.expires, now + 3600_000);
  const unverified = splitToken(made.sessionToken)!;
  assert.equal(unverified.issuer, issuer.id);
  const verified = verify(made.sessionToken)!;
  assert.deepEqual(verified.content, {
    ...{ id: made.accessKeyId, issued: now, expires: now + 3600_000, grants },
    ...{ operations: ["GetObject"], session: undefined, policy: undefined },
  });
  assert.deepEqual([...verified.scope!.operations!], ["GetObject"]);
  assert.deepEqual(verified.secrets, [made.secretAccessKey]);
  const text = made.sessionToken.split(".").map((part) => Buffer.from(part, "base64url").toString());
  for (const secret of [issuer.secret, made.secretAccessKey]) assert.ok(!text.join(" ").includes(secret));
});

test("two tokens for the same grants have different ids and secrets", () => {
  const [one, other] = [make(), make()];
  assert.notEqual(one.accessKeyId, other.accessKeyId);
  assert.notEqual(one.secretAccessKey, other.secretAccessKey);
});

test("a token is verified with any accepted secret of its issuer and with no other secret", () => {
  const { sessionToken } = make();
  assert.notEqual(verify(sessionToken, ["new-secret", issuer.secret]), undefined);
  assert.equal(verify(sessionToken, ["new-secret"]), undefined);
  assert.equal(verify(sessionToken, []), undefined);
});

test("a cached token is no longer verified when its issuer's secret changes", () => {
  const verifier = createTokenVerifier();
  const token = verifier.read(make().sessionToken)!;
  const first = verifier.verify(token, [issuer.secret]);
  assert.notEqual(first, undefined);
  assert.equal(verifier.verify(token, [issuer.secret]), first, "from the cache");
  assert.equal(verifier.verify(token, ["new-secret"]), undefined);
});

test("the token key and the temporary secret are derived with different labels", () => {
  const body = "ST1.abcd.efgh";
  assert.notEqual(macOf("secret", body), deriveSecret("secret", body));
});

test("a token is valid from 15 minutes before its issue time until it expires", () => {
  const { content } = verify(make().sessionToken)!;
  assert.equal(tokenFault(content, now - 15 * 60_000), undefined);
  assert.equal(tokenFault(content, now - 15 * 60_000 - 1), "invalid");
  assert.equal(tokenFault(content, now + 3600_000 - 1), undefined);
  assert.equal(tokenFault(content, now + 3600_000), "expired");
});

test("a token with a lifetime of more than 7 days is not valid, even if its signature is right", () => {
  const week = 7 * 24 * 3600;
  assert.throws(() => make({ lifetimeSeconds: week + 1 }), TemporaryCredentialsError);
  for (const lifetimeSeconds of [0, -1, 1.5, Number.NaN]) {
    assert.throws(() => make({ lifetimeSeconds }), TemporaryCredentialsError);
  }
  const json = JSON.stringify({ id: "TEMPA", iat: now / 1000, exp: now / 1000 + week + 1 });
  const body = `ST1.${Buffer.from(issuer.id).toString("base64url")}.${Buffer.from(json).toString("base64url")}`;
  const { content } = verify(`${body}.${macOf(issuer.secret, body)}`)!;
  assert.equal(tokenFault(content, now), "invalid");
});

test("grants that do not fit into a token are refused when it is made", () => {
  const many = Array.from({ length: 40 }, (_, i) => ({
    ...{ bucket: "photos", prefix: `${"p".repeat(200)}${i}`, rights: ["read" as const] },
  }));
  assert.throws(() => make({ grants: many }), /too long/);
  assert.throws(() => make({ grants: [{ bucket: "photos", rights: [] }] }), /not valid/);
  assert.throws(
    () => make({ grants: [{ bucket: "photos", prefix: "a", object: "b", rights: ["read"] }] }),
    /not valid/,
  );
  assert.equal(splitToken("A".repeat(maxTokenLength + 1)), undefined);
});

test("content with an unknown field, a wrong type or a missing time is refused", () => {
  const good = { id: "TEMPA", iat: 1, exp: 2, grants: [{ bucket: "b", rights: ["read"] }] };
  assert.notEqual(parseTokenContent(JSON.stringify(good)), undefined);
  for (const change of [
    { address: "10.0.0.0/8" },
    { id: 1 },
    { iat: "1" },
    { exp: 1 },
    { exp: undefined },
    { grants: "all" },
    { grants: [{ bucket: "b", rights: ["everything"] }] },
    { grants: [{ bucket: "b", rights: ["read"], identity: "x" }] },
    { grants: undefined, operations: ["GetObject"] },
    { operations: [1] },
    { session: { name: "s" } },
    { session: { name: "s", roleCreated: "1" } },
  ]) {
    assert.equal(
      parseTokenContent(JSON.stringify({ ...good, ...change })),
      undefined,
      JSON.stringify(change),
    );
  }
  for (const text of ["", "[]", "null", "{", '"text"']) assert.equal(parseTokenContent(text), undefined);
});
