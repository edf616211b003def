// Sign-in with a real OpenID provider: the package oidc-provider on loopback.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { maxSignIns } from "../../../src/console/api/oidc.ts";
import type { ProviderOptions } from "../../../src/console/auth/providers.ts";
import { parsePermission } from "../../../src/console/auth/roles.ts";
import type { SessionDocument, StartedDocument } from "../../../src/console/wire-session.ts";
import { clientId, clientSecret, signInAt, startRealProvider } from "../../oidc/real-provider.ts";
import { apiScene } from "../api/scene.ts";

const accounts = { anna: ["staff", "storage-admins"], bert: ["photos-team"], carl: ["staff"], dora: [] };

interface SetUpOptions {
  readonly claimsIn?: "user info" | "ID token";
  readonly changes?: Partial<ProviderOptions>;
  readonly trustedProxies?: readonly string[];
}

async function setUp(
  t: TestContext,
  { claimsIn = "user info", changes = {}, trustedProxies = [] }: SetUpOptions = {},
) {
  const { issuer } = await startRealProvider(t, accounts, { claimsIn });
  const provider: ProviderOptions = {
    ...{ name: "company", title: "Company account", issuer, clientId, clientSecret },
    ...{ scopes: ["profile", "groups"], groupClaim: "groups" },
    groups: new Map([
      ["storage-admins", parsePermission("administrator")],
      ["photos-team", parsePermission("photos:editor")],
    ]),
    ...changes,
  };
  const scene = await apiScene(t, { providers: [provider], trustedProxies });
  const browser = () => createBrowser(scene.url);
  return { ...scene, browser, provider };
}

interface Reply {
  readonly status: number;
  readonly text: string;
}

/** Keeps cookies like a browser. */
function createBrowser(url: string) {
  const cookies = new Map<string, string>();
  async function send(method: string, path: string, json?: unknown): Promise<Reply> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = {
      "x-store-console": "1",
      "content-type": "application/json",
      cookie,
      connection: "close",
    };
    const body = json === undefined ? {} : { body: JSON.stringify(json) };
    const response = await fetch(url + path, { method, headers, ...body });
    for (const line of response.headers.getSetCookie()) {
      assert.match(line, /; Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=/);
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    }
    return { status: response.status, text: await response.text() };
  }
  return {
    cookies,
    send,
    async start(): Promise<string> {
      const { status, text } = await send("POST", "/api/sign-in/start", { provider: "company" });
      assert.equal(status, 200, text);
      return (JSON.parse(text) as StartedDocument).url;
    },
    /** Sends the provider's answer, with some parameters replaced. */
    finish(answer: URL, changes: Readonly<Record<string, string | undefined>> = {}): Promise<Reply> {
      const { searchParams } = answer;
      const [code, state, issuer] = ["code", "state", "iss"].map(
        (name) => searchParams.get(name) ?? undefined,
      );
      return send("POST", "/api/sign-in/finish", { code, state, issuer, ...changes });
    },
  };
}

test("a user whose group has a role signs in, with the group in the user info or in the ID token", async (t) => {
  for (const claimsIn of ["user info", "ID token"] as const) {
    const { browser, signIns, url } = await setUp(t, { claimsIn });
    const anna = browser();
    assert.match((await anna.send("GET", "/api/sign-in")).text, /"title":"Company account"/);
    const start = await anna.start();
    const { searchParams } = new URL(start);
    assert.equal(searchParams.get("redirect_uri"), `${url}/signed-in`);
    assert.equal(searchParams.get("code_challenge_method"), "S256");
    const { status, text } = await anna.finish(await signInAt(start, "anna"));
    assert.equal(status, 200, text);
    const session = JSON.parse(text) as SessionDocument;
    assert.deepEqual([session.name, session.role], ["anna", "administrator"]);
    assert.equal((await anna.send("GET", "/api/buckets")).status, 200);
    assert.deepEqual([...anna.cookies.keys()].length, 1, "only the cookie of the session stays");
    assert.deepEqual(signIns.slice(1), ["sign in anna"]);
  }
});

test("a group with a role on a bucket gives access to this bucket only", async (t) => {
  const { browser, engine } = await setUp(t);
  await engine.createBucket("photos");
  const bert = browser();
  const { status, text } = await bert.finish(await signInAt(await bert.start(), "bert"));
  assert.equal(status, 200, text);
  assert.equal((await bert.send("GET", "/api/objects?bucket=photos")).status, 200);
  assert.equal((await bert.send("GET", "/api/objects?bucket=bucket")).status, 403);
  assert.equal((await bert.send("GET", "/api/keys")).status, 403);
});

test("a user without a group that has a role is refused", async (t) => {
  const { browser, signIns, documents } = await setUp(t);
  for (const account of ["carl", "dora"]) {
    const user = browser();
    const { status, text } = await user.finish(await signInAt(await user.start(), account));
    assert.equal(status, 401, text);
    assert.match(
      text,
      new RegExp(`${account} may not use this console: none of the user's groups has a role`),
    );
    assert.equal((await user.send("GET", "/api/session")).status, 401);
    assert.equal(user.cookies.size, 0);
  }
  assert.ok(signIns.includes("refuse sign-in"));
  assert.equal((await documents.list("console session")).length, 1, "only that of the test's own client");
});

test("an answer with a wrong state, of another browser, or used twice is refused", async (t) => {
  const { browser } = await setUp(t);
  const anna = browser();
  const answer = await signInAt(await anna.start(), "anna");
  const other = browser();
  const stolen = await other.finish(answer);
  assert.equal(stolen.status, 401);
  assert.match(stolen.text, /expired or was started in another browser/);
  await other.start();
  assert.equal((await other.finish(answer)).status, 401, "a sign-in of its own does not help");
  const wrong = await anna.finish(answer, { state: "x".repeat(43) });
  assert.equal(wrong.status, 401);
  assert.equal((await anna.finish(answer)).status, 401, "a wrong state ends the sign-in");

  const second = browser();
  const good = await signInAt(await second.start(), "anna");
  assert.equal((await second.finish(good)).status, 200);
  assert.equal((await second.finish(good)).status, 401, "a replay");
  await second.start();
  const state = new URL(await second.start()).searchParams.get("state")!;
  const replayed = await second.finish(good, { state });
  assert.equal(replayed.status, 401);
  assert.match(replayed.text, /The provider refused the sign-in: invalid_grant/);
});

test("an ID token with another nonce or an answer that names another issuer is refused", async (t) => {
  const { browser } = await setUp(t);
  const anna = browser();
  const start = new URL(await anna.start());
  start.searchParams.set("nonce", "chosen by an attacker");
  const swapped = await anna.finish(await signInAt(start.href, "anna"));
  assert.equal(swapped.status, 401);
  assert.match(swapped.text, /nonce differs/);
  for (const issuer of ["https://evil.example", undefined]) {
    const answer = await signInAt(await anna.start(), "anna");
    const foreign = await anna.finish(answer, { issuer });
    assert.equal(foreign.status, 401);
    assert.match(foreign.text, /another issuer/);
  }
});

test("a code is useless without the code verifier of its sign-in", async (t) => {
  const { browser } = await setUp(t);
  const victim = await signInAt(await browser().start(), "anna");
  const attacker = browser();
  const state = new URL(await attacker.start()).searchParams.get("state")!;
  const { status, text } = await attacker.finish(victim, { state });
  assert.equal(status, 401);
  assert.match(text, /invalid_grant/);
});

test("a wrong client secret or an unreachable provider is an error of the server, and is logged", async (t) => {
  const wrong = await setUp(t, { changes: { clientSecret: "wrong" } });
  const anna = wrong.browser();
  const refused = await anna.finish(await signInAt(await anna.start(), "anna"));
  assert.equal(refused.status, 502, refused.text);
  assert.match(wrong.logged.join(), /invalid_client/);
  const gone = await setUp(t, { changes: { issuer: "http://127.0.0.1:1" } });
  const { status, text } = await gone.browser().send("POST", "/api/sign-in/start", { provider: "company" });
  assert.equal(status, 502);
  assert.match(text, /cannot be reached/);
  const unknown = await gone.browser().send("POST", "/api/sign-in/start", { provider: "other" });
  assert.equal(unknown.status, 404);
});

test("the redirect URL has the scheme that a trusted proxy reports, and only then", async (t) => {
  for (const [trustedProxies, scheme] of [[["127.0.0.1"], "https:"] as const, [[], "http:"] as const]) {
    const { url } = await setUp(t, { trustedProxies });
    const response = await fetch(`${url}/api/sign-in/start`, {
      method: "POST",
      headers: { "x-store-console": "1", "x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.7" },
      body: JSON.stringify({ provider: "company" }),
    });
    const started = new URL(((await response.json()) as StartedDocument).url);
    const redirect = new URL(started.searchParams.get("redirect_uri")!);
    assert.equal(redirect.protocol, scheme);
    assert.equal(redirect.pathname, "/signed-in");
  }
});

test("clients that start many sign-ins do not end the sign-ins of others", async (t) => {
  const { browser, url, documents } = await setUp(t, { trustedProxies: ["127.0.0.1"] });
  const anna = browser();
  const authorization = await anna.start();
  const start = async (address: string) => {
    const headers = { "x-store-console": "1", "x-forwarded-for": address };
    const body = JSON.stringify({ provider: "company" });
    return (await fetch(`${url}/api/sign-in/start`, { method: "POST", headers, body })).status;
  };
  for (let network = 0; network < 20; network++) {
    const statuses: number[] = [];
    for (let i = 0; i < maxSignIns; i++) statuses.push(await start(`2001:db8:0:${network}::${i}`));
    assert.ok(statuses.every((status) => status === 200));
    assert.equal(await start(`2001:db8:0:${network}:1::`), 429, "a network counts as one client");
  }
  assert.equal((await documents.list("console sign-in")).length, 1000);
  // A code of the provider is valid for a minute, which a busy machine needs for the thousand.
  const { status, text } = await anna.finish(await signInAt(authorization, "anna"));
  assert.equal(status, 200, text);
});

test("guessing answers is throttled", async (t) => {
  const { browser } = await setUp(t);
  const guess = { code: "c", state: "s" };
  const client = browser();
  for (let i = 0; i < maxSignIns; i++)
    assert.equal((await client.send("POST", "/api/sign-in/finish", guess)).status, 401);
  assert.equal((await client.send("POST", "/api/sign-in/finish", guess)).status, 429);
});
