// Tests of the verification of ID tokens, against a provider whose keys and tokens the test makes.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { base64url, type CryptoKey, exportSPKI, generateKeyPair, importJWK, SignJWT } from "jose";
import { OidcError } from "../../src/oidc/oidc-error.ts";
import { createOidcVerifier } from "../../src/oidc/verifier.ts";
import { type FakeProvider, signToken, startFakeProvider } from "./fake-provider.ts";

async function setUp(t: TestContext) {
  const provider = await startFakeProvider(t);
  let time = Date.now();
  const verifier = createOidcVerifier({ issuer: provider.issuer, audience: "console", now: () => time });
  const advance = (milliseconds: number) => {
    time += milliseconds;
  };
  return { provider, verifier, advance };
}

function refused(message: RegExp, reason: OidcError["reason"] = "token") {
  return (error: unknown) => {
    assert.ok(error instanceof OidcError, String(error));
    assert.match(error.message, message);
    assert.equal(error.reason, reason);
    return true;
  };
}

test("a valid ID token yields its claims", async (t) => {
  const { provider, verifier } = await setUp(t);
  const token = await signToken(provider, { claims: { groups: ["staff"], nonce: "n1" } });
  const claims = await verifier.verify(token, { nonce: "n1" });
  assert.equal(claims.subject, "anna");
  assert.equal(claims.issuer, provider.issuer);
  assert.deepEqual(claims.audience, ["console"]);
  assert.deepEqual(claims.all.groups, ["staff"]);
});

test("an ID token with a wrong or missing claim is refused with a message that names the claim", async (t) => {
  const { provider, verifier } = await setUp(t);
  const seconds = Math.floor(Date.now() / 1000);
  const cases = [
    [{ iss: "https://elsewhere.example" }, /another issuer/],
    [{ iss: `${provider.issuer}/` }, /another issuer/],
    [{ aud: "other" }, /another audience/],
    [{ aud: [] }, /another audience/],
    [{ aud: undefined }, /"aud"|another audience/],
    [{ exp: seconds - 61 }, /expired/],
    [{ exp: undefined }, /"exp"/],
    [{ exp: "tomorrow" }, /"exp"/],
    [{ iat: undefined }, /"iat"/],
    [{ iat: seconds + 3600, exp: seconds + 7200 }, /in the future/],
    [{ nbf: seconds + 3600 }, /not valid yet/],
    [{ exp: 1e308 }, /time of the ID token/],
    [{ exp: 1e11 }, /time of the ID token/],
    [{ exp: seconds + 60.5 }, /time of the ID token/],
    [{ iat: -1e308 }, /time of the ID token/],
    [{ nbf: -1 }, /time of the ID token/],
    [{ sub: undefined }, /"sub"/],
    [{ sub: "" }, /no subject/],
    [{ nonce: "other" }, /nonce/],
    [{ nonce: undefined }, /nonce/],
  ] as const;
  for (const [claims, message] of cases) {
    const token = await signToken(provider, { claims: { nonce: "n1", ...claims } as never });
    await assert.rejects(verifier.verify(token, { nonce: "n1" }), refused(message), JSON.stringify(claims));
  }
});

test("a token for several audiences must name the client as its authorized party", async (t) => {
  const { provider } = await setUp(t);
  const options = { issuer: provider.issuer, audience: "console", authorizedParty: "console" };
  const verifier = createOidcVerifier(options);
  const aud = ["console", "mail"];
  const own = await signToken(provider, { claims: { aud, azp: "console" } });
  assert.equal((await verifier.verify(own)).subject, "anna");
  for (const claims of [{ aud }, { aud, azp: "mail" }, { azp: "mail" }]) {
    await assert.rejects(verifier.verify(await signToken(provider, { claims })), refused(/another client/));
  }
});

test("a token without a signature, or signed with the public key as a secret, is refused", async (t) => {
  const { provider, verifier } = await setUp(t);
  const [header, payload, signature] = (await signToken(provider)).split(".") as [string, string, string];
  const none = base64url.encode(JSON.stringify({ alg: "none" }));
  for (const token of [`${none}.${payload}.`, `${none}.${payload}.${signature}`, `${header}.${payload}.`]) {
    await assert.rejects(verifier.verify(token), refused(/algorithm|malformed|signature/));
  }
  const keys = JSON.parse(provider.responses.get("/keys")!.body) as {
    keys: [{ kty: "EC"; crv: string; x: string; y: string }];
  };
  const publicKey = (await importJWK(keys.keys[0], "ES256", { extractable: true })) as CryptoKey;
  const secrets = [JSON.stringify(keys.keys[0]), keys.keys[0].x, await exportSPKI(publicKey)];
  for (const secret of secrets) {
    const token = await new SignJWT(JSON.parse(Buffer.from(payload, "base64url").toString()))
      .setProtectedHeader({ alg: "HS256", kid: "one" })
      .sign(Buffer.from(secret));
    await assert.rejects(verifier.verify(token), refused(/algorithm/));
  }
});

test("a token of another key, an altered token and text that is not a token are refused", async (t) => {
  const { provider, verifier } = await setUp(t);
  const { privateKey } = await generateKeyPair("ES256");
  await assert.rejects(verifier.verify(await signToken(provider, { key: privateKey })), refused(/signature/));
  const unknown = await signToken(provider, { key: privateKey, kid: "two" });
  await assert.rejects(verifier.verify(unknown), refused(/not signed with a key/));
  const [header, payload, signature] = (await signToken(provider)).split(".") as [string, string, string];
  const altered = base64url.encode(Buffer.from(payload, "base64url").toString().replace("anna", "root"));
  await assert.rejects(verifier.verify(`${header}.${altered}.${signature}`), refused(/signature/));
  for (const text of ["", "a.b.c", "a.b", "null", `${header}.${payload}`, "é.é.é", `${"a".repeat(16_385)}`]) {
    await assert.rejects(verifier.verify(text), refused(/malformed|larger/), text.slice(0, 40));
  }
});

test("a rotated key is found by a new load, at most every 30 seconds", async (t) => {
  const { provider, verifier, advance } = await setUp(t);
  await verifier.verify(await signToken(provider));
  const key = await provider.rotate("two");
  const token = await signToken(provider, { key, kid: "two" });
  await assert.rejects(verifier.verify(token), refused(/not signed with a key/));
  advance(31_000);
  await verifier.verify(token);
  const loads = provider.requests.length;
  for (let i = 0; i < 5; i++) {
    const unknown = await signToken(provider, { key, kid: `unknown-${i}` });
    await assert.rejects(verifier.verify(unknown), refused(/not signed with a key/));
  }
  assert.equal(provider.requests.length, loads);
});

test("a provider that is misconfigured or unreachable is reported as such", async (t) => {
  const path = "/.well-known/openid-configuration";
  const cases: readonly [RegExp, (provider: FakeProvider) => void][] = [
    [
      /names itself "https:\/\/evil.example"/,
      ({ responses }) =>
        responses.set(path, {
          body: JSON.stringify({ issuer: "https://evil.example", jwks_uri: "https://evil.example/k" }),
        }),
    ],
    [
      /jwks_uri must start with https/,
      ({ responses, issuer }) =>
        responses.set(path, { body: JSON.stringify({ issuer, jwks_uri: "http://evil.example/keys" }) }),
    ],
    [/no jwks_uri/, ({ responses, issuer }) => responses.set(path, { body: JSON.stringify({ issuer }) })],
    [
      /redirects are not followed/,
      ({ responses }) =>
        responses.set(path, { status: 302, headers: { location: "http://127.0.0.1:1/" }, body: "" }),
    ],
    [
      /redirects are not followed/,
      ({ responses, issuer }) =>
        responses.set("/keys", { status: 307, headers: { location: `${issuer}/keys2` }, body: "" }),
    ],
    [/status 500/, ({ responses }) => responses.set("/keys", { status: 500, body: "{}" })],
    [/not a JSON object/, ({ responses }) => responses.set("/keys", { body: "<html>" })],
    [/larger than 1 MiB/, ({ responses }) => responses.set("/keys", { body: " ".repeat(1_100_000) })],
    [/key set is invalid/, ({ responses }) => responses.set("/keys", { body: '{"keys":7}' })],
  ];
  for (const [message, breakIt] of cases) {
    const { provider, verifier } = await setUp(t);
    breakIt(provider);
    await assert.rejects(verifier.verify(await signToken(provider)), refused(message, "provider"));
  }
  const verifier = createOidcVerifier({ issuer: "http://127.0.0.1:1", audience: "console" });
  const { provider } = await setUp(t);
  await assert.rejects(verifier.verify(await signToken(provider)), refused(/cannot be reached/, "provider"));
});

test("an issuer must be an https URL without query, or http on this machine", () => {
  for (const issuer of [
    "http://login.example.com",
    "login.example.com",
    "https://a.example/?x=1",
    "https://u:p@a.example",
    "ftp://a.example",
  ]) {
    assert.throws(() => createOidcVerifier({ issuer, audience: "console" }), RangeError, issuer);
  }
  createOidcVerifier({ issuer: "https://login.example.com/realms/main", audience: "console" });
  createOidcVerifier({ issuer: "http://[::1]:8080", audience: "console" });
  assert.throws(() => createOidcVerifier({ issuer: "https://a.example", audience: [] }), RangeError);
});
