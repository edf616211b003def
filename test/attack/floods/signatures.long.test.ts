// Floods of requests without the right to anything: wrong signatures in every form, unknown keys,
// junk tokens, and STS with forged ID tokens. Other clients are served within a second meanwhile, and
// memory and the audit log stay bounded.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { type TestContext, test } from "node:test";
import { startFakeProvider } from "../../oidc/fake-provider.ts";
import { type Raw, sendRaw, signChunked, signRaw } from "../../s3/raw.ts";
import { openTarget, type Target } from "../target.ts";
import { type Bystanders, openBystanders } from "./bystanders.ts";

const MiB = 1024 * 1024;
const requests = 600;
const atOnce = 48;
const maxGrowth = 192 * MiB;
/** Entries of a kind are combined by process; each kind and process may add a few. */
const maxAuditEntries = 500;

/** Makes the request with this number. */
type Attack = (index: number) => Raw;

/** Sends the requests from many addresses; returns how many were answered with each status. */
async function flood(url: string, attack: Attack): Promise<ReadonlyMap<number, number>> {
  const statuses = new Map<number, number>();
  let next = 0;
  const client = async () => {
    while (next < requests) {
      const index = next++;
      const from = `127.0.0.${2 + (index % 200)}`;
      const { status } = await sendRaw(url, { ...attack(index), from });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, client));
  return statuses;
}

const get: Raw = { method: "GET", path: "/bucket/small" };
const randomId = () =>
  `STORE${createHash("sha256").update(randomBytes(8)).digest("hex").slice(0, 15).toUpperCase()}`;

function wrongSignatures({ url, key }: Target): Readonly<Record<string, Attack>> {
  const wrong = { ...key, secretAccessKey: "x".repeat(40) };
  const body = Buffer.alloc(65_536, "chunk ");
  const put: Raw = { method: "PUT", path: "/bucket/flood", body };
  const withCredential = (scope: string): Attack => {
    const signed = signRaw(url, get, { key: wrong, form: "header" });
    const authorization = signed.headers.authorization!.replace(/Credential=[^,]*/, `Credential=${scope}`);
    return () => ({ ...signed, headers: { ...signed.headers, authorization } });
  };
  const many = Object.fromEntries(Array.from({ length: 450 }, (_, index) => [`x-amz-meta-${index}`, "a"]));
  return {
    "wrong signatures in the header": () => signRaw(url, get, { key: wrong, form: "header" }),
    "wrong signatures in the query": () => signRaw(url, get, { key: wrong, form: "query" }),
    "unknown keys": () => signRaw(url, get, { key: { ...wrong, accessKeyId: randomId() }, form: "header" }),
    "unknown keys in the query": () =>
      signRaw(url, get, { key: { ...wrong, accessKeyId: randomId() }, form: "query" }),
    "wrong signatures over bodies": () => signRaw(url, put, { key: wrong, form: "header" }),
    "wrong signatures of chunks": () =>
      signChunked(url, put, key, "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "wrong signature"),
    "wrong signatures over 450 headers": () =>
      signRaw(url, { ...get, headers: many }, { key: wrong, form: "header" }),
    "credentials of 40 KB": withCredential(`${"a/".repeat(20_000)}aws4_request`),
    "access key ids of 40 KB": withCredential(`${"A".repeat(40_000)}/20261119/auto/s3/aws4_request`),
    "lists of 10,000 signed headers": () => {
      const signed = signRaw(url, get, { key: wrong, form: "header" });
      const names = Array.from({ length: 10_000 }, (_, index) => index).join(";");
      const authorization = signed.headers.authorization!.replace(
        /SignedHeaders=[^,]*/,
        `SignedHeaders=${names}`,
      );
      return { ...signed, headers: { ...signed.headers, authorization } };
    },
    "authorizations of commas": () => ({
      ...get,
      headers: { authorization: `AWS4-HMAC-SHA256 ${",".repeat(40_000)}` },
    }),
    "queries of 5,000 parameters": () => {
      const signed = signRaw(url, get, { key: wrong, form: "query" });
      const more = Array.from({ length: 5000 }, (_, index) => [`p${index}`, ""] as const);
      return { ...signed, query: [...signed.query, ...more] };
    },
    "junk session tokens": () => {
      const sessionToken = `ST1.${randomBytes(8000).toString("base64url")}.${randomBytes(8000).toString("base64url")}.AAAA`;
      return signRaw(url, get, { key: { ...wrong, sessionToken }, form: "header" });
    },
    "forms with wrong signatures": () => {
      const fields = Array.from({ length: 100 }, (_, index) => formField(`x-amz-meta-${index}`, "a"));
      const text = `${fields.join("")}${formField("policy", "e30=")}${formField("x-amz-signature", "0".repeat(64))}--b--\r\n`;
      const headers = { "content-type": "multipart/form-data; boundary=b" };
      return { method: "POST", path: "/bucket", headers, body: Buffer.from(text) };
    },
  };
}

function formField(name: string, value: string): string {
  return `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
}

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Requests of AssumeRoleWithWebIdentity, which need no signature. */
function forgedIdentities(issuer: string): Readonly<Record<string, Attack>> {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer, aud: "store", sub: "a", iat: now, exp: now + 300 };
  const token = (header: object, payload: unknown) =>
    `${base64url(header)}.${base64url(payload)}.${randomBytes(64).toString("base64url")}`;
  const assume = (text: string, more: Readonly<Record<string, string>> = {}): Raw => {
    const form = new URLSearchParams({
      ...{ Action: "AssumeRoleWithWebIdentity", Version: "2011-06-15", RoleSessionName: "flood" },
      ...{ RoleArn: "arn:aws:iam::default:role/ci", WebIdentityToken: text, ...more },
    });
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    return { method: "POST", path: "/", headers, body: Buffer.from(form.toString()) };
  };
  const es256 = { alg: "ES256", kid: "one" };
  return {
    "forged tokens": () => assume(token(es256, claims)),
    "tokens with unknown keys": (index) => assume(token({ alg: "ES256", kid: `k${index}` }, claims)),
    "tokens of 15 KB": () => assume(token(es256, { ...claims, groups: Array(4000).fill("g") })),
    "tokens of 60 KB": () => assume("x".repeat(60_000)),
    "tokens of dots": () => assume(".".repeat(15_000)),
    "nested tokens": () => assume(`e30.${Buffer.from("[".repeat(11_000)).toString("base64url")}.AAAA`),
    "unknown roles": (index) =>
      assume(token(es256, claims), { RoleArn: `arn:aws:iam::default:role/r${index}` }),
    "unknown issuers": (index) => assume(token(es256, { ...claims, iss: `http://127.0.0.1:1/${index}` })),
    "20,000 parameters": () => ({
      ...assume("x"),
      body: Buffer.from(Array.from({ length: 8000 }, (_, index) => `p${index}=`).join("&")),
    }),
    "long policies": () => assume(token(es256, claims), { Policy: "[".repeat(40_000) }),
  };
}

async function runAll(
  t: TestContext,
  { target, bystanders }: { readonly target: Target; readonly bystanders: Bystanders },
  attacks: Readonly<Record<string, Attack>>,
): Promise<void> {
  for (const [what, attack] of Object.entries(attacks)) {
    await t.test(`a flood of ${what} delays no other client`, async () => {
      const statuses = await bystanders.during(what, () => flood(target.url, attack));
      for (const status of statuses.keys())
        assert.ok([400, 403, 404, 431, 503].includes(status), `${what}: ${status}`);
    });
  }
}

test("floods of requests without a right delay no other client and fill neither memory nor audit log", async (t) => {
  const target = await openTarget(t);
  const provider = await startFakeProvider(t);
  await target.scene.shell.store(
    ...["role", "create", "ci", "--grant", "bucket:read", "--trust-oidc", provider.issuer],
    ...["--audience", "store", "--claim", "sub=a", "--data", target.data],
  );
  const bystanders = await openBystanders(t, target);
  const entries = async () => {
    const text = await target.scene.shell.store("audit", "--data", target.data, "--json");
    return text.trim().split("\n").length;
  };
  const before = await entries();
  await runAll(t, { target, bystanders }, wrongSignatures(target));
  await runAll(t, { target, bystanders }, forgedIdentities(provider.issuer));
  assert.ok(provider.requests.length < 20, `the provider was asked ${provider.requests.length} times`);
  await bystanders.assertMemory("after all floods", maxGrowth);
  const added = (await entries()) - before;
  assert.ok(added < maxAuditEntries, `${added} entries in the audit log`);
  t.diagnostic(`${added} entries in the audit log, ${provider.requests.length} requests to the provider`);
  await target.scene.shell.store("audit", "--verify", "--data", target.data);
  const { status } = await target.call({ method: "HEAD", path: "/bucket/flood" });
  assert.equal(status, 404, "nothing was stored");
  target.assertSameProcesses();
});
