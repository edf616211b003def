// Attacks on the console's sign-in by OpenID: forged tokens, stolen answers, replayed cookies and
// codes, other hosts as return address, and roles that were taken away.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type TestContext, test } from "node:test";
import { type CryptoKey, exportSPKI, generateKeyPair, importJWK, type JWTPayload } from "jose";
import {
  type Answered,
  type Browser,
  goodClaims,
  type HostileProvider,
  type OidcConsole,
  openBrowser,
  openOidcConsole,
  startHostileProvider,
} from "./scene.ts";

interface Scene extends OidcConsole {
  readonly provider: HostileProvider;
  /** Browser at an address of its own, because each address may start few sign-ins a minute. */
  browser(): Browser;
}

async function openScene(t: TestContext): Promise<Scene> {
  const provider = await startHostileProvider(t, ["company", "other"]);
  const opened = await openOidcConsole(t, provider, ["company", "other"]);
  let browsers = 0;
  const browser = () => openBrowser(opened.port, `127.0.0.${2 + (browsers++ % 200)}`);
  return { ...opened, provider, browser };
}

/** Signs in with a token that is made from the nonce of the sign-in. */
async function signIn(
  { provider }: Scene,
  browser: Browser,
  makeToken: (nonce: string) => Promise<string>,
): Promise<Answered> {
  const started = await browser.start("company");
  const token = await makeToken(started.get("nonce")!);
  provider.replies.set("/company/token", JSON.stringify({ id_token: token, access_token: "t" }));
  const issuer = provider.issuer("company");
  return browser.finish({ code: "c", state: started.get("state")!, issuer });
}

async function signInAsAnna(scene: Scene, browser: Browser): Promise<void> {
  const { provider } = scene;
  const { status, text } = await signIn(scene, browser, (nonce) =>
    provider.sign(goodClaims(provider.issuer("company"), nonce)),
  );
  assert.equal(status, 200, text);
}

const base64url = (text: string) => Buffer.from(text).toString("base64url");

type Forge = (nonce: string) => Promise<string>;

/** Tokens that differ from a good one in their claims, signed with the right key. */
function wrongClaims({ provider }: Scene): readonly (readonly [string, Forge])[] {
  const issuer = provider.issuer("company");
  const now = Math.floor(Date.now() / 1000);
  const changes: readonly object[] = [
    ...[{ aud: "other" }, { aud: [] }, { aud: ["console", "other"] }, { aud: "" }, { aud: undefined }],
    ...[{ aud: { 0: "console" } }, { azp: "other" }, { azp: ["console"] }],
    ...[{ iss: provider.issuer("other") }, { iss: `${issuer}/` }, { iss: [issuer] }, { iss: undefined }],
    ...[{ nonce: undefined }, { nonce: "" }, { nonce: "x".repeat(43) }, { nonce: null }, { nonce: [] }],
    ...[{ sub: undefined }, { sub: "" }, { sub: 7 }, { sub: ["anna"] }, { sub: { toString: "anna" } }],
    ...[
      { exp: now - 61 },
      { exp: undefined },
      { exp: String(now + 300) },
      { exp: 1e308 },
      { exp: now * 1000 },
    ],
    ...[{ exp: now + 300.5 }, { exp: null }, { exp: [now + 300] }, { exp: -1 }],
    ...[{ iat: now + 3600 }, { iat: undefined }, { iat: "now" }, { iat: -1 }, { iat: 0.5 }],
    ...[{ nbf: now + 3600 }, { nbf: "0" }, { nbf: -1e308 }],
    ...[{ groups: [] }, { groups: "admin" }, { groups: [["admins"]] }, { groups: { admins: true } }],
    ...[{ groups: ["ADMINS", "admins ", "admins\0", "__proto__", "constructor"] }, { groups: null }],
  ];
  return changes.map((change) => [
    JSON.stringify(change, (_, value: unknown) => (value === undefined ? "(undefined)" : value)),
    (nonce) => provider.sign({ ...goodClaims(issuer, nonce), ...change } as JWTPayload),
  ]);
}

/** Tokens with good claims whose header or signature is the attacker's. */
async function wrongSignatures(scene: Scene): Promise<readonly (readonly [string, Forge])[]> {
  const { provider } = scene;
  const issuer = provider.issuer("company");
  const own = await generateKeyPair("ES256", { extractable: true });
  const ownRsa = await generateKeyPair("RS256");
  const jwk = JSON.parse(JSON.stringify(provider.publicKey)) as typeof provider.publicKey;
  const spki = await exportSPKI((await importJWK(jwk, "ES256", { extractable: true })) as CryptoKey);
  const claims = (nonce: string) => goodClaims(issuer, nonce);
  const unsigned = (header: object, nonce: string) =>
    `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(claims(nonce)))}`;
  const shared = [spki, spki.trim(), JSON.stringify(jwk), jwk.x!, ""].map((secret): [string, Forge] => [
    `HS256 with ${JSON.stringify(secret).slice(0, 20)}`,
    async (nonce) => {
      // An empty secret is refused by the library, but not by an attacker.
      if (secret === "") return `${unsigned({ alg: "HS256", kid: "one" }, nonce)}.`;
      return provider.sign(
        claims(nonce),
        { alg: "HS256" },
        new TextEncoder().encode(secret.padEnd(32, "\n")),
      );
    },
  ]);
  const none = ["none", "None", "NONE", "nOnE", ""].flatMap((alg): [string, Forge][] => [
    [`alg ${alg} without signature`, async (nonce) => `${unsigned({ alg }, nonce)}.`],
    [`alg ${alg} with kid`, async (nonce) => `${unsigned({ alg, kid: "one" }, nonce)}.AAAA`],
  ]);
  const digest = createHash("sha256").update(spki).digest("base64url");
  const { kid: _, alg: __, use: ___, ...bare } = jwk;
  const withOwnKey: readonly [string, Forge][] = [
    ["another key with the kid", (nonce) => provider.sign(claims(nonce), {}, own.privateKey)],
    [
      "kid of another algorithm",
      (nonce) => provider.sign(claims(nonce), { alg: "RS256" }, ownRsa.privateKey),
    ],
    ["key in the header", (nonce) => provider.sign(claims(nonce), { jwk: bare }, own.privateKey)],
    [
      "address of keys in the header",
      (nonce) =>
        provider.sign(claims(nonce), { jku: `${issuer}/evil`, x5u: `${issuer}/evil` }, own.privateKey),
    ],
    ["digest of a key", (nonce) => provider.sign(claims(nonce), { kid: digest }, own.privateKey)],
    ...["../keys", "two", "__proto__", "", "one\0", "' OR 1=1 --"].map((kid): [string, Forge] => [
      `kid ${kid}`,
      (nonce) => provider.sign(claims(nonce), { kid }, own.privateKey),
    ]),
    [
      "a signature of zeros",
      async (nonce) =>
        `${unsigned({ alg: "ES256", kid: "one" }, nonce)}.${Buffer.alloc(64).toString("base64url")}`,
    ],
    [
      "an unknown critical header",
      async (nonce) => withHeader(await provider.sign(claims(nonce)), { crit: ["x"], x: 1 }),
    ],
    [
      "another header over the signature",
      async (nonce) => withHeader(await provider.sign(claims(nonce)), { typ: "x" }),
    ],
    ["a token of the other provider", (nonce) => provider.sign(goodClaims(provider.issuer("other"), nonce))],
    ["a token of 20 KiB", (nonce) => provider.sign({ ...claims(nonce), fill: "x".repeat(20_000) })],
  ];
  return [...shared, ...none, ...withOwnKey];
}

function withHeader(token: string, more: object): string {
  const [, payload, signature] = token.split(".");
  return `${base64url(JSON.stringify({ alg: "ES256", kid: "one", ...more }))}.${payload}.${signature}`;
}

/** Values of `id_token` that are not even tokens. */
const malformed = ["", ".", "..", "a.b.c", "e30.e30.e30", ".".repeat(1000), "\0", "[]", "é.é.é"];

async function assertSignedOut(browser: Browser, what: string): Promise<void> {
  const { status } = await browser.send("GET", "/api/session");
  assert.equal(status, 401, `no session after: ${what}`);
}

test("nobody signs in at the console with a forged token or with somebody else's sign-in", async (t) => {
  const scene = await openScene(t);
  const { provider, browser } = scene;
  await t.test("forged and altered ID tokens are refused", async () => {
    const forged = [
      ...wrongClaims(scene),
      ...(await wrongSignatures(scene)),
      ...malformed.map((text): [string, Forge] => [JSON.stringify(text.slice(0, 9)), async () => text]),
    ];
    for (const [what, forge] of forged) {
      const attacker = browser();
      const { status, text } = await signIn(scene, attacker, forge);
      assert.equal(status, 401, `${what}: ${text}`);
      await assertSignedOut(attacker, what);
    }
    assert.ok(!provider.requests.some((path) => path.includes("evil")), "keys come from one address");
    t.diagnostic(`${forged.length} forged tokens, 0 accepted`);
    await signInAsAnna(scene, browser());
  });
  await t.test("user info with more groups than the token has does not count for another user", async () => {
    const withoutGroups = async (nonce: string) => {
      const { groups: _, ...claims } = goodClaims(provider.issuer("company"), nonce);
      return provider.sign(claims);
    };
    for (const info of [{ sub: "root" }, { sub: ["anna"] }, {}, { sub: "anna\0" }]) {
      provider.replies.set("/company/me", JSON.stringify({ groups: ["admins"], ...info }));
      assert.equal((await signIn(scene, browser(), withoutGroups)).status, 401);
    }
    provider.replies.set("/company/me", JSON.stringify({ sub: "anna", groups: ["admins"] }));
    assert.equal((await signIn(scene, browser(), withoutGroups)).status, 200);
  });
  await attackAnswers(t, scene);
  await attackSessions(t, scene);
  await attackAddresses(t, scene);
});

async function attackAnswers(t: TestContext, scene: Scene): Promise<void> {
  const { provider, browser } = scene;
  const issuer = provider.issuer("company");
  const setToken = async (nonce: string) => {
    const token = await provider.sign(goodClaims(issuer, nonce));
    provider.replies.set("/company/token", JSON.stringify({ id_token: token }));
  };
  await t.test("twenty answers at the same time spend one code and open one session", async () => {
    const anna = browser();
    const started = await anna.start("company");
    await setToken(started.get("nonce")!);
    const before = provider.requests.filter((path) => path === "/company/token").length;
    const answer = { code: "c", state: started.get("state")!, issuer };
    const pending = new Map(anna.cookies);
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const copy = browser();
        for (const [name, value] of pending) copy.cookies.set(name, value);
        return (await copy.finish(answer)).status;
      }),
    );
    assert.equal(statuses.filter((status) => status === 200).length, 1, String(statuses));
    const requests = provider.requests.filter((path) => path === "/company/token").length;
    assert.equal(requests - before, 1, "the code is sent to the provider once");
  });
  await t.test("the answer to an attacker's sign-in does not sign a victim in (login CSRF)", async () => {
    const [attacker, victim] = [browser(), browser()];
    const started = await attacker.start("company");
    await setToken(started.get("nonce")!);
    const answer = { code: "c", state: started.get("state")!, issuer };
    assert.equal((await victim.finish(answer)).status, 401, "without a sign-in in progress");
    const own = await victim.start("company");
    assert.equal((await victim.finish(answer)).status, 401, "with another sign-in in progress");
    assert.equal(
      (await victim.finish({ ...answer, state: own.get("state")! })).status,
      401,
      "which has ended",
    );
    await assertSignedOut(victim, "login CSRF");
    const origin = { origin: "https://evil.example" };
    const crossSite = await attacker.send("POST", "/api/sign-in/finish", answer, origin);
    assert.equal(crossSite.status, 403, "a page of another site cannot post an answer");
  });
  await t.test("an answer counts only for the provider that the sign-in began with", async () => {
    for (const named of [provider.issuer("other"), `${issuer}/`, "", undefined]) {
      const anna = browser();
      const started = await anna.start("company");
      await setToken(started.get("nonce")!);
      const fields = { code: "c", state: started.get("state")!, issuer: named! };
      assert.equal((await anna.finish(fields)).status, 401, String(named));
    }
  });
  await t.test("answers of any shape are refused without a failure", async () => {
    const texts: readonly unknown[] = [
      "",
      "\0",
      "x".repeat(12_000),
      7,
      null,
      [],
      {},
      { length: 43 },
      "é".repeat(43),
    ];
    for (const value of texts) {
      for (const field of ["state", "code", "issuer"]) {
        const anna = browser();
        const started = await anna.start("company");
        const fields = { code: "c", state: started.get("state"), issuer, [field]: value };
        provider.replies.set("/company/token", '{"error":"invalid_grant"}');
        const { status, text } = await anna.send("POST", "/api/sign-in/finish", fields);
        assert.ok(status === 400 || status === 401 || status === 502, `${field}: ${status} ${text}`);
      }
    }
  });
}

async function attackSessions(t: TestContext, scene: Scene): Promise<void> {
  const { browser, port } = scene;
  const sessionCookie = ({ cookies }: Browser) => [...cookies].find(([name]) => !name.endsWith("sign-in"))!;
  await t.test("a session id that an attacker has planted is never used for a sign-in", async () => {
    const planted = "A".repeat(43);
    const victim = browser();
    const name = `__Host-store-console-${port}`;
    for (const value of [planted, "", "../x"]) {
      victim.cookies.set(name, value);
      await signInAsAnna(scene, victim);
      assert.notEqual(victim.cookies.get(name), value);
    }
    const attacker = browser();
    attacker.cookies.set(name, planted);
    await assertSignedOut(attacker, "session fixation");
  });
  await t.test("a cookie is useless after sign-out, and after the next sign-in of its browser", async () => {
    const anna = browser();
    await signInAsAnna(scene, anna);
    const first = sessionCookie(anna);
    await signInAsAnna(scene, anna);
    const second = sessionCookie(anna);
    assert.notEqual(first[1], second[1]);
    assert.equal((await anna.send("DELETE", "/api/session")).status, 204);
    for (const [name, value] of [first, second]) {
      const thief = browser();
      thief.cookies.set(name, value);
      for (const path of ["/api/session", "/api/buckets", "/api/keys"])
        assert.equal((await thief.send("GET", path)).status, 401, path);
    }
  });
  await t.test(
    "the cookie of a sign-in in progress is not a session, and a session not a sign-in",
    async () => {
      const anna = browser();
      await anna.start("company");
      const [[pendingName, pending]] = [...anna.cookies] as [[string, string]];
      const thief = browser();
      thief.cookies.set(pendingName.replace(/-sign-in$/, ""), pending);
      await assertSignedOut(thief, "a pending sign-in as session");
    },
  );
}

async function attackAddresses(t: TestContext, { port, provider, browser }: Scene): Promise<void> {
  await t.test("the return address is the console's own, whatever the request says", async () => {
    const forwarded = {
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "https",
      forwarded: "host=evil.example;proto=https",
      "x-original-host": "evil.example",
      referer: "https://evil.example/",
    };
    const { status, text } = await browser().send(
      "POST",
      "/api/sign-in/start",
      { provider: "company" },
      forwarded,
    );
    assert.equal(status, 200, text);
    const { url } = JSON.parse(text) as { url: string };
    assert.ok(url.startsWith(`${provider.issuer("company")}/authorize?`), url);
    assert.equal(new URL(url).searchParams.get("redirect_uri"), `http://127.0.0.1:${port}/signed-in`);
    for (const host of ["evil.example", "localhost@evil.example", "127.0.0.1.evil.example", "localhost/x"]) {
      const refused = await browser().send("POST", "/api/sign-in/start", { provider: "company" }, { host });
      assert.ok(refused.status === 421 || refused.status === 400, `${host}: ${refused.status}`);
    }
  });
  await t.test("the callback page redirects nowhere", async () => {
    for (const path of [
      "/signed-in?code=c&state=s&return=https://evil.example",
      "/signed-in?code=c&state=s&next=//evil.example/",
      "//evil.example/signed-in?code=c",
      "/\\evil.example/signed-in",
      "/signed-in/..//evil.example",
    ]) {
      const { status, headers } = await browser().send("GET", path);
      assert.ok([200, 400, 401, 404].includes(status), `${path}: ${status}`);
      assert.equal(headers.location, undefined, path);
    }
    const { headers } = await browser().send("GET", "/signed-in?code=c");
    assert.match(String(headers["referrer-policy"]), /no-referrer|same-origin/, "the code is in the address");
  });
}

test("a role that was taken away and a provider that was removed end open sessions", async (t) => {
  const scene = await openScene(t);
  const anna = scene.browser();
  await signInAsAnna(scene, anna);
  assert.equal((await anna.send("GET", "/api/keys")).status, 200);
  const statusOf = async (restarted: OidcConsole) => {
    const replay = openBrowser(restarted.port);
    // The name of the cookie contains the port, which differs after the restart.
    for (const [, value] of anna.cookies) replay.cookies.set(`__Host-store-console-${restarted.port}`, value);
    return Promise.all(
      ["/api/session", "/api/keys"].map(async (path) => (await replay.send("GET", path)).status),
    );
  };
  const reduced = await scene.restart("photos:viewer");
  assert.deepEqual(await statusOf(reduced), [200, 403]);
  const restored = await reduced.restart("administrator");
  assert.deepEqual(await statusOf(restored), [200, 200]);
  const renamed = await restored.restart("administrator", ["elsewhere"]);
  assert.deepEqual(await statusOf(renamed), [401, 401], "the provider of the session is gone");
});
