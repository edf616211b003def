// Tests requests with temporary credentials: in headers, presigned URLs and forms, within their
// scope, and after their access key or time has ended.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseGrant } from "../../../src/access/grants.ts";
import {
  createTemporaryCredentials,
  type NewTemporaryCredentials,
} from "../../../src/access/temporary/token.ts";
import { type DirectScene, directScene } from "../direct.ts";
import { boundary, encodeForm, signedFields } from "../form.ts";
import type { Key } from "../scene.ts";

interface Given extends Partial<Omit<NewTemporaryCredentials, "grants">> {
  readonly grants?: readonly string[];
}

function temporary(parent: Key, { grants, ...options }: Given = {}): Key {
  const { accessKeyId: id, secretAccessKey: secret } = parent;
  const given = { lifetimeSeconds: 900, now: Date.now(), ...options };
  return createTemporaryCredentials({ id, secret }, { ...given, grants: grants?.map(parseGrant) });
}

async function scene(t: { after(run: () => Promise<void>): void }, options = {}): Promise<DirectScene> {
  const opened = await directScene(t, options);
  for (const path of ["/photos", "/other"]) await opened.ask({ method: "PUT", path });
  for (const path of ["/photos/2026/a", "/photos/2025/a", "/other/a"]) {
    await opened.ask({ method: "PUT", path, body: Buffer.from("bytes") });
  }
  return opened;
}

const get = (path: string) => ({ method: "GET", path });
const put = (path: string) => ({ method: "PUT", path, body: Buffer.from("new") });

for (const form of ["header", "query"] as const) {
  test(`temporary credentials in a ${form} signature allow what their grants allow`, async (t) => {
    const { ask, key } = await scene(t);
    const given = temporary(key, { grants: ["photos/2026/*:read,append", "photos/2025/a:read"] });
    const status = async (request: ReturnType<typeof get>) =>
      (await ask(request, { key: given, form })).status;
    assert.equal(await status(get("/photos/2026/a")), 200);
    assert.equal(await status(get("/photos/2025/a")), 200);
    assert.equal(await status(get("/other/a")), 403);
    assert.equal(await status(put("/photos/2026/b")), 200);
    assert.equal(await status(put("/photos/2026/a")), 403, "append does not overwrite");
    assert.equal(await status(put("/photos/2025/a")), 403);
    assert.equal(await status({ method: "DELETE", path: "/photos/2026/a" }), 403);
    assert.equal(await status(get("/photos")), 403);
  });
}

test("temporary credentials without grants may do what their access key may do", async (t) => {
  const { ask, newKey } = await scene(t);
  const parent = await newKey({ grants: [parseGrant("photos/2026/*:read")] });
  const given = { key: temporary(parent) };
  assert.equal((await ask(get("/photos/2026/a"), given)).status, 200);
  assert.equal((await ask(get("/photos/2025/a"), given)).status, 403);
});

test("temporary credentials never allow more than their access key", async (t) => {
  const { ask, newKey } = await scene(t);
  const parent = await newKey({ grants: [parseGrant("photos/2026/*:read")] });
  const given = { key: temporary(parent, { grants: ["*:admin", "photos:admin", "other:admin"] }) };
  assert.equal((await ask(get("/photos/2026/a"), given)).status, 200);
  for (const request of [get("/photos/2025/a"), get("/other/a"), put("/photos/2026/a"), put("/new")])
    assert.equal((await ask(request, given)).status, 403);
});

test("temporary credentials limited to operations are refused for all other operations", async (t) => {
  const { ask, key } = await scene(t);
  const given = { key: temporary(key, { grants: ["photos:admin"], operations: ["GetObject"] }) };
  assert.equal((await ask(get("/photos/2026/a"), given)).status, 200);
  for (const request of [
    { ...get("/photos/2026/a"), method: "HEAD" },
    get("/photos"),
    get("/"),
    put("/photos/b"),
  ])
    assert.equal((await ask(request, given)).status, 403, request.path);
});

test("temporary credentials end with their bucket, also if a new bucket has its name", async (t) => {
  const { ask, key } = await scene(t);
  const given = { key: temporary(key, { grants: ["other:read,list"] }) };
  const all = { key: temporary(key) };
  assert.equal((await ask(get("/other/a"), given)).status, 200);
  await ask({ method: "DELETE", path: "/other/a" });
  await ask({ method: "DELETE", path: "/other" });
  await new Promise((resolve) => setTimeout(resolve, 2));
  await ask({ method: "PUT", path: "/other" });
  await ask({ method: "PUT", path: "/other/a", body: Buffer.from("of somebody else") });
  assert.equal((await ask(get("/other/a"), given)).code, "AccessDenied");
  assert.equal((await ask(get("/other"), given)).code, "AccessDenied");
  assert.doesNotMatch((await ask(get("/"), given)).text, /other/);
  assert.equal((await ask(get("/other/a"), all)).status, 200, "credentials for every bucket");
  const later = { key: temporary(key, { grants: ["other:read"] }) };
  assert.equal((await ask(get("/other/a"), later)).status, 200);
});

test("a form with temporary credentials uploads within their scope", async (t) => {
  const { send, key } = await scene(t);
  const upload = (given: Key) =>
    send({
      ...{ method: "POST", path: "/photos" },
      headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
      body: Buffer.from(encodeForm(signedFields({ key: given, bucket: "photos" }))),
    });
  assert.equal((await upload(temporary(key, { grants: ["photos/form/*:write"] }))).status, 204);
  assert.equal((await upload(temporary(key, { grants: ["photos/2026/*:write"] }))).code, "AccessDenied");
  const { sessionToken: _, ...withoutToken } = temporary(key, { grants: ["photos:admin"] });
  assert.equal((await upload(withoutToken)).code, "InvalidAccessKeyId");
});

test("temporary credentials end when they expire, with the error that SDKs refresh on", async (t) => {
  const { ask, key } = await scene(t);
  const given = temporary(key, { now: Date.now() - 3600_000, lifetimeSeconds: 3600 });
  const { status, code } = await ask(get("/photos/2026/a"), { key: given });
  assert.deepEqual([status, code], [400, "ExpiredToken"]);
  const early = temporary(key, { now: Date.now() + 3600_000 });
  assert.equal((await ask(get("/photos/2026/a"), { key: early })).code, "InvalidToken");
});

test("temporary credentials end when their access key is disabled, deleted or rotated", async (t) => {
  const { ask, newKey, credentials } = await scene(t);
  const code = async (given: Key) => (await ask(get("/photos/2026/a"), { key: given })).code;
  const parent = await newKey();
  const given = temporary(parent);
  assert.equal(await code(given), undefined);
  await credentials.disable(parent.accessKeyId);
  assert.equal(await code(given), "InvalidAccessKeyId");
  await credentials.enable(parent.accessKeyId);
  assert.equal(await code(given), undefined);
  const rotated = await credentials.rotate(parent.accessKeyId, 60_000);
  assert.equal(await code(given), undefined, "the previous secret is still accepted");
  const newer = temporary(rotated!);
  assert.equal(await code(newer), undefined);
  await credentials.rotate(parent.accessKeyId);
  assert.equal(await code(given), "InvalidToken");
  assert.equal(await code(newer), "InvalidToken");
  const last = temporary((await credentials.find(parent.accessKeyId))!);
  assert.equal(await code(last), undefined);
  await credentials.delete(parent.accessKeyId);
  assert.equal(await code(last), "InvalidAccessKeyId");
});

test("a token is accepted only with its own access key id and secret", async (t) => {
  const { ask, key } = await scene(t);
  const [one, other] = [temporary(key), temporary(key)];
  const code = async (given: Key) => (await ask(get("/photos/2026/a"), { key: given })).code;
  assert.equal(await code({ ...one, sessionToken: other.sessionToken }), "InvalidToken");
  assert.equal(await code({ ...key, sessionToken: one.sessionToken }), "InvalidToken");
  assert.equal(await code({ ...one, secretAccessKey: key.secretAccessKey }), "SignatureDoesNotMatch");
  assert.equal(await code({ ...one, secretAccessKey: other.secretAccessKey }), "SignatureDoesNotMatch");
  assert.equal(await code({ ...one, sessionToken: undefined }), "InvalidAccessKeyId");
  assert.equal(await code({ ...one, sessionToken: "" }), "InvalidToken");
});

test("a token that is not signed, or that is sent twice, is refused", async (t) => {
  const { ask, key } = await scene(t);
  const given = temporary(key);
  const { sessionToken, ...bare } = given;
  const unsigned = { ...get("/photos/2026/a"), moreHeaders: ["x-amz-security-token", sessionToken!] };
  assert.equal((await ask(unsigned, { key: bare })).status, 403);
  const query = [["X-Amz-Security-Token", sessionToken!]] as const;
  const twice = await ask({ ...get("/photos/2026/a"), query }, { key: given });
  assert.equal(twice.code, "InvalidToken");
});

test("requests with temporary credentials are logged with both ids, and count as use of the access key", async (t) => {
  const used: string[] = [];
  const logged: (string | undefined)[] = [];
  const { ask, key } = await scene(t, {
    onKeyUsed: (id: string) => used.push(id),
    onExchange: ({ accessKeyId }: { accessKeyId?: string }) => logged.push(accessKeyId),
  });
  const given = temporary(key);
  await ask(get("/photos/2026/a"), { key: given });
  assert.equal(used.at(-1), key.accessKeyId);
  assert.equal(logged.at(-1), `${key.accessKeyId}/${given.accessKeyId}`);
});

test("wrong tokens are limited like wrong signatures, for all tokens of an access key together", async (t) => {
  const { ask, key } = await scene(t, { failureLimits: { burst: 3, perSecond: 0.001 } });
  const forged = () => temporary({ ...key, secretAccessKey: "guessed" });
  for (let i = 0; i < 3; i++)
    assert.equal((await ask(get("/photos/2026/a"), { key: forged() })).code, "InvalidToken");
  assert.equal((await ask(get("/photos/2026/a"), { key: forged() })).code, "SlowDown");
});
