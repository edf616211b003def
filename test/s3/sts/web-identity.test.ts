// Tests AssumeRoleWithWebIdentity with ID tokens of a provider on loopback.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { TrustedProvider } from "../../../src/access/temporary/roles.ts";
import {
  type FakeProvider,
  signToken,
  startFakeProvider,
  type TokenOptions,
} from "../../oidc/fake-provider.ts";
import { arn, credentialsIn, element, type StsScene, stsScene } from "./scene.ts";

interface WebScene extends StsScene {
  readonly provider: FakeProvider;
  assume(token: string, role?: string): ReturnType<StsScene["call"]>;
}

async function webScene(
  t: TestContext,
  trust: Partial<TrustedProvider> = {},
  options = {},
): Promise<WebScene> {
  const scene = await stsScene(t, options);
  const provider = await startFakeProvider(t);
  const trusted = { issuer: provider.issuer, audiences: ["store"], claims: { sub: "repo:site:*" }, ...trust };
  await scene.newRole("deploy", ["photos/2026/*:read,append"], { providers: [trusted] });
  const assume = (WebIdentityToken: string, role = "deploy") =>
    scene.call({
      ...{
        Action: "AssumeRoleWithWebIdentity",
        RoleArn: arn(role),
        RoleSessionName: "job-1",
        WebIdentityToken,
      },
    });
  return { ...scene, provider, assume };
}

const good = { aud: "store", sub: "repo:site:main" };
const sign = (provider: FakeProvider, claims = {}, options: TokenOptions = {}) =>
  signToken(provider, { ...options, claims: { ...good, ...claims } });

test("an ID token of a trusted provider is exchanged for credentials of the role, without a signature", async (t) => {
  const { assume, provider, ask } = await webScene(t);
  const answer = await assume(await sign(provider));
  assert.equal(answer.status, 200, answer.text);
  assert.equal(element(answer.text, "SubjectFromWebIdentityToken"), good.sub);
  assert.equal(element(answer.text, "Provider"), provider.issuer);
  assert.equal(element(answer.text, "Audience"), "store");
  const key = credentialsIn(answer);
  assert.equal((await ask({ method: "GET", path: "/photos/2026/a" }, { key })).status, 200);
  assert.equal((await ask({ method: "GET", path: "/photos/2025/a" }, { key })).status, 403);
  const body = Buffer.from("new");
  assert.equal((await ask({ method: "PUT", path: "/photos/2026/b", body }, { key })).status, 200);
});

test("ID tokens with a wrong signature, issuer, audience, time or claim are refused", async (t) => {
  const { assume, provider } = await webScene(t);
  const stranger = await startFakeProvider(t);
  const code = async (token: string, role?: string) => (await assume(token, role)).code;
  assert.equal(await code(await sign(stranger)), "AccessDenied", "an issuer that is not configured");
  assert.deepEqual(stranger.requests, [], "and it is not asked for its keys");
  assert.equal(await code(await sign(stranger, { iss: provider.issuer })), "InvalidIdentityToken");
  assert.equal(await code(await sign(provider, { aud: "other" })), "InvalidIdentityToken");
  assert.equal(await code(await sign(provider, { exp: 1 })), "ExpiredTokenException");
  assert.equal(await code(await sign(provider, { sub: "repo:other:main" })), "AccessDenied");
  assert.equal(await code(await sign(provider), "unknown"), "AccessDenied");
  const [head, body, signature] = (await sign(provider)).split(".");
  const none = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url");
  for (const token of [
    "a",
    "a.b.c",
    `${head}.${body}.`,
    `${none}.${body}.`,
    `${head}.${body}.${signature}A`,
  ]) {
    assert.match((await code(token))!, /^(InvalidIdentityToken|AccessDenied)$/, token.slice(0, 20));
  }
  assert.equal(await code(`a.${"b".repeat(20_000)}.c`), "InvalidIdentityToken");
});

test("a provider that cannot be reached is reported as an error that SDKs retry", async (t) => {
  const { assume, provider } = await webScene(t);
  provider.responses.set("/keys", { status: 500, body: "{}" });
  const { code, status } = await assume(await sign(provider));
  assert.deepEqual([status, code], [400, "IDPCommunicationError"]);
});

test("the keys of a provider are cached", async (t) => {
  const { assume, provider } = await webScene(t);
  for (let i = 0; i < 5; i++) assert.equal((await assume(await sign(provider))).status, 200);
  assert.equal(provider.requests.length, 2, "its configuration and its keys, once");
});

test("wrong ID tokens are limited like wrong signatures", async (t) => {
  const { assume } = await webScene(t, {}, { failureLimits: { burst: 3, perSecond: 0.001 } });
  for (let i = 0; i < 3; i++) assert.notEqual((await assume("a.b.c")).code, "Throttling");
  assert.equal((await assume("a.b.c")).code, "Throttling");
});

test("the limit of wrong ID tokens does not depend on what the client chooses", async (t) => {
  const { call } = await webScene(t, {}, { failureLimits: { burst: 3, perSecond: 0.001 } });
  const codes: (string | undefined)[] = [];
  for (let i = 0; i < 4; i++) {
    const answer = await call({
      ...{ Action: "AssumeRoleWithWebIdentity", RoleSessionName: `job-${i}`, WebIdentityToken: `a.b.${i}` },
      RoleArn: `arn:aws:iam::${i}:role/path-${i}/deploy${i}`,
    });
    codes.push(answer.code);
  }
  assert.equal(codes[0], "AccessDenied");
  assert.equal(codes[3], "Throttling");
});
