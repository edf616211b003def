// Tests of the code flow against a provider that answers with tokens that the test chooses.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { base64url, type JWTPayload, SignJWT } from "jose";
import { createCodeFlow, type PendingSignIn } from "../../src/oidc/code-flow.ts";
import { OidcError } from "../../src/oidc/oidc-error.ts";
import { type FakeProvider, signToken, startFakeProvider } from "./fake-provider.ts";

interface FlowOptions {
  /** Changes to the published configuration. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly clientSecret?: string | undefined;
}

async function setUp(t: TestContext, { metadata = {}, clientSecret }: FlowOptions = {}) {
  const provider = await startFakeProvider(t);
  const { issuer, responses } = provider;
  const published = {
    ...{ issuer, jwks_uri: `${issuer}/keys`, authorization_endpoint: `${issuer}/authorize?tenant=7` },
    ...{ token_endpoint: `${issuer}/token`, ...metadata },
  };
  responses.set("/.well-known/openid-configuration", { body: JSON.stringify(published) });
  const flow = createCodeFlow({
    ...{ issuer, clientId: "console", clientSecret, scopes: ["email"], wantedClaims: [], now: Date.now },
  });
  const { url, pending } = await flow.begin("https://console.example.com/signed-in");
  const finish = (idToken: unknown, more: Readonly<Record<string, unknown>> = {}) => {
    responses.set("/token", { body: JSON.stringify({ id_token: idToken, ...more }) });
    return flow.finish({ code: "code", issuer: undefined }, pending);
  };
  return { provider, flow, url, pending, finish };
}

function withNonce(provider: FakeProvider, { nonce }: PendingSignIn, claims: JWTPayload = {}) {
  return signToken(provider, { claims: { nonce, ...claims } });
}

function isRefused(message: RegExp, reason: OidcError["reason"] = "token") {
  return (error: unknown) => {
    assert.ok(error instanceof OidcError, String(error));
    assert.match(error.message, message);
    assert.equal(error.reason, reason);
    return true;
  };
}

test("begin asks for a code with PKCE, state and nonce, different for every sign-in", async (t) => {
  const { flow, url, pending } = await setUp(t);
  const { searchParams, pathname } = new URL(url);
  assert.equal(pathname, "/authorize");
  assert.equal(searchParams.get("tenant"), "7", "the endpoint keeps its own parameters");
  assert.equal(searchParams.get("scope"), "openid email");
  assert.equal(searchParams.get("redirect_uri"), "https://console.example.com/signed-in");
  assert.equal(searchParams.get("state"), pending.state);
  const digest = await crypto.subtle.digest("SHA-256", Buffer.from(pending.codeVerifier));
  assert.equal(searchParams.get("code_challenge"), Buffer.from(digest).toString("base64url"));
  assert.ok(!url.includes(pending.codeVerifier));
  const other = (await flow.begin("https://console.example.com/signed-in")).pending;
  for (const name of ["state", "nonce", "codeVerifier"] as const) {
    assert.equal(pending[name].length, 43);
    assert.notEqual(pending[name], other[name]);
  }
});

test("finish accepts a token of this sign-in and refuses every other token", async (t) => {
  const { provider, pending, finish } = await setUp(t);
  const seconds = Math.floor(Date.now() / 1000);
  assert.equal((await finish(await withNonce(provider, pending))).subject, "anna");
  const cases: readonly [JWTPayload, RegExp][] = [
    [{ nonce: "other" }, /nonce/],
    [{ exp: seconds - 120 }, /expired/],
    [{ aud: "other" }, /another audience/],
    [{ aud: ["console", "other"] }, /another client/],
    [{ azp: "other" }, /another client/],
    [{ iss: "https://elsewhere.example" }, /another issuer/],
  ];
  for (const [claims, message] of cases)
    await assert.rejects(finish(await withNonce(provider, pending, claims)), isRefused(message));
  const good = await withNonce(provider, pending);
  const [, payload = "", signature = ""] = good.split(".");
  const none = `${base64url.encode('{"alg":"none"}')}.${payload}`;
  for (const token of [`${none}.`, `${none}.${signature}`])
    await assert.rejects(finish(token), isRefused(/algorithm|malformed/));
  const shared = await new SignJWT(JSON.parse(Buffer.from(payload, "base64url").toString()))
    .setProtectedHeader({ alg: "HS256", kid: "one" })
    .sign(Buffer.from(provider.responses.get("/keys")!.body));
  await assert.rejects(finish(shared), isRefused(/algorithm/));
  for (const token of [undefined, 7, null])
    await assert.rejects(finish(token), isRefused(/no ID token/, "provider"));
});

test("an answer must name the issuer if the provider announces that it does", async (t) => {
  const { provider, flow, pending, finish } = await setUp(t, {
    metadata: { authorization_response_iss_parameter_supported: true },
  });
  await assert.rejects(finish(await withNonce(provider, pending)), isRefused(/another issuer/));
  const { issuer } = provider;
  assert.equal((await flow.finish({ code: "code", issuer }, pending)).subject, "anna");
  const foreign = flow.finish({ code: "code", issuer: "https://evil.example" }, pending);
  await assert.rejects(foreign, isRefused(/another issuer/));
  assert.equal(provider.requests.filter((path) => path === "/token").length, 1, "the code is not sent");
});

test("a refusal, a redirect or a failure of the token endpoint is reported", async (t) => {
  const { provider, flow, pending } = await setUp(t);
  const cases = [
    [400, '{"error":"invalid_grant"}', /refused the sign-in: invalid_grant/, "token"],
    [401, '{"error":"invalid_client"}', /invalid_client/, "provider"],
    [400, `{"error":"bad\\u0000\\u202e${"x".repeat(300)}"}`, /: bad\?\?x{95}\.$/, "token"],
    [503, "{}", /status 503/, "provider"],
    [200, "no json", /not a JSON object/, "provider"],
    [302, "", /redirects are not followed/, "provider"],
  ] as const;
  for (const [status, body, message, reason] of cases) {
    provider.responses.set("/token", { status, body, headers: { location: "http://127.0.0.1:1/" } });
    await assert.rejects(flow.finish({ code: "c", issuer: undefined }, pending), isRefused(message, reason));
  }
});

test("the user info must be about the user of the ID token", async (t) => {
  const provider = await startFakeProvider(t);
  const { issuer, responses } = provider;
  const endpoints = { token_endpoint: `${issuer}/token`, userinfo_endpoint: `${issuer}/me` };
  responses.set("/.well-known/openid-configuration", {
    body: JSON.stringify({ issuer, jwks_uri: `${issuer}/keys`, ...endpoints }),
  });
  const options = { issuer, clientId: "console", clientSecret: undefined, scopes: [], now: Date.now };
  const flow = createCodeFlow({ ...options, wantedClaims: ["groups"] });
  await assert.rejects(flow.begin("https://a.example/"), isRefused(/authorization_endpoint/, "provider"));
  const pending = { state: "s", nonce: "n", codeVerifier: "v", redirectUrl: "https://a.example/" };
  const finish = () => flow.finish({ code: "c", issuer: undefined }, pending);
  const token = { id_token: await withNonce(provider, pending), access_token: "t" };
  responses.set("/token", { body: JSON.stringify(token) });
  responses.set("/me", { body: JSON.stringify({ sub: "anna", groups: ["staff"], iss: "x" }) });
  const claims = await finish();
  assert.deepEqual(claims.all.groups, ["staff"]);
  assert.equal(claims.all.iss, issuer, "the ID token takes precedence");
  responses.set("/me", { body: JSON.stringify({ sub: "root", groups: ["admins"] }) });
  await assert.rejects(finish(), isRefused(/another user/));
});

test("the client secret is sent as the provider supports it, and never without one", async (t) => {
  const sent: { authorization: string | undefined; form: URLSearchParams }[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
    });
    request.on("end", () => {
      sent.push({ authorization: request.headers.authorization, form: new URLSearchParams(text) });
      response.writeHead(400).end('{"error":"invalid_grant"}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const token_endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
  const post = { token_endpoint, token_endpoint_auth_methods_supported: ["client_secret_post"] };
  for (const [metadata, clientSecret] of [
    [{ token_endpoint }, "a:b c"],
    [post, "a:b c"],
    [post, undefined],
  ] as const) {
    const { flow, pending } = await setUp(t, { metadata, clientSecret });
    await assert.rejects(flow.finish({ code: "c", issuer: undefined }, pending));
    assert.equal(sent.at(-1)!.form.get("code_verifier"), pending.codeVerifier);
  }
  const [basic, posted, open] = sent;
  assert.equal(basic!.authorization, `Basic ${Buffer.from("console:a%3Ab+c").toString("base64")}`);
  assert.equal(basic!.form.get("client_secret"), null);
  assert.deepEqual([posted!.authorization, posted!.form.get("client_secret")], [undefined, "a:b c"]);
  assert.deepEqual([open!.authorization, open!.form.get("client_secret")], [undefined, null]);
});
