// Tests STS on the port of the S3 API: roles that access keys assume, session tokens, errors.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseGrant } from "../../../src/access/grants.ts";
import type { AuditEntry } from "../../../src/audit/audit-log.ts";
import type { Exchange } from "../../../src/metrics/exchange.ts";
import type { Key } from "../scene.ts";
import { arn, credentialsIn, element, type StsScene, stsScene } from "./scene.ts";

const assume = (role: string, more = {}) => ({
  ...{ Action: "AssumeRole", RoleArn: arn(role), RoleSessionName: "session", ...more },
});
const statusOf = async ({ ask }: StsScene, key: Key, path: string, method = "GET") =>
  (await ask({ method, path }, { key })).status;

test("AssumeRole returns credentials with the grants of the role", async (t) => {
  const scene = await stsScene(t);
  await scene.newRole("reader", ["photos/2026/*:read"], { accounts: ["default"] });
  const answer = await scene.call(assume("reader"), scene.key);
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.text, /<AssumeRoleResponse xmlns="https:\/\/sts.amazonaws.com\/doc\/2011-06-15\/">/);
  assert.equal(element(answer.text, "Arn"), "arn:aws:sts::default:assumed-role/reader/session");
  assert.equal(answer.headers["cache-control"], "no-store");
  const key = credentialsIn(answer);
  const left = Date.parse(element(answer.text, "Expiration")!) - Date.now();
  assert.ok(left > 3590_000 && left <= 3600_000);
  assert.equal(await statusOf(scene, key, "/photos/2026/a"), 200);
  assert.equal(await statusOf(scene, key, "/photos/2025/a"), 403);
  assert.equal(await statusOf(scene, key, "/photos/2026/a", "DELETE"), 403);
});

test("the credentials of a role end when it is deleted, also if a new role has its name", async (t) => {
  const scene = await stsScene(t);
  await scene.newRole("reader", ["photos:read"], { accounts: ["default"] });
  const key = credentialsIn(await scene.call(assume("reader"), scene.key));
  assert.equal(await statusOf(scene, key, "/photos/2026/a"), 200);
  await scene.roles.delete("reader");
  const { code } = await scene.ask({ method: "GET", path: "/photos/2026/a" }, { key });
  assert.equal(code, "InvalidAccessKeyId");
  await new Promise((resolve) => setTimeout(resolve, 2));
  await scene.newRole("reader", ["photos:admin"], { accounts: ["default"] });
  assert.equal(await statusOf(scene, key, "/photos/2026/a"), 403);
});

test("a role whose document was edited cannot be assumed", async (t) => {
  const scene = await stsScene(t);
  await scene.newRole("reader", ["photos/2026/*:read"], { accounts: ["default"] });
  const key = credentialsIn(await scene.call(assume("reader"), scene.key));
  const document = (await scene.documents.get("role", "reader"))!;
  const edited = document.text.replace('"read"', '"admin"');
  assert.notEqual(edited, document.text);
  await scene.documents.put("role", "reader", edited, document.revision);
  assert.equal((await scene.call(assume("reader"), scene.key)).status, 403);
  assert.equal(await statusOf(scene, key, "/photos/2026/a"), 403);
});

test("AssumeRole is refused for callers that the role does not trust", async (t) => {
  const scene = await stsScene(t);
  const limited = await scene.newKey({ grants: [parseGrant("photos:read")] });
  const named = await scene.newKey({ grants: [parseGrant("photos:read")] });
  const stranger = await scene.newKey({ account: "stranger" });
  await scene.newRole("admin", ["photos:admin"], { accounts: ["default"], keys: [named.accessKeyId] });
  const code = async (key: Key, role = "admin") => (await scene.call(assume(role), key)).code;
  assert.equal(await code(scene.key), undefined);
  assert.equal(await code(named), undefined);
  assert.equal(await code(limited), "AccessDenied", "a key with grants is not trusted with its account");
  assert.equal(await code(stranger), "AccessDenied");
  assert.equal(await code(scene.key, "unknown"), "AccessDenied");
  const temporary = credentialsIn(await scene.call({ Action: "GetSessionToken" }, scene.key));
  assert.equal(await code(temporary), "AccessDenied", "temporary credentials cannot assume a role");
});

test("DurationSeconds is limited by the role", async (t) => {
  const scene = await stsScene(t);
  await scene.newRole("reader", ["photos:read"], { accounts: ["default"] }, 1800);
  const seconds = async (DurationSeconds?: string) => {
    const answer = await scene.call(assume("reader", DurationSeconds && { DurationSeconds }), scene.key);
    if (answer.status !== 200) return answer.code;
    // Rounded, because a busy machine may take seconds to answer.
    return Math.round((Date.parse(element(answer.text, "Expiration")!) - Date.now()) / 60_000) * 60;
  };
  assert.equal(await seconds(), 1800);
  assert.equal(await seconds("900"), 900);
  for (const wrong of ["899", "1801", "1e3", "-900", "", "ten"])
    assert.equal(await seconds(wrong === "" ? " " : wrong), "ValidationError", wrong);
});

test("parameters that would limit the credentials are refused, not ignored", async (t) => {
  const scene = await stsScene(t);
  await scene.newRole("reader", ["photos:read"], { accounts: ["default"] });
  for (const more of [
    { "Tags.member.1.Key": "x" },
    { "PolicyArns.member.1.arn": "x" },
    { SerialNumber: "x" },
  ]) {
    const answer = await scene.call(assume("reader", more), scene.key);
    assert.equal(answer.code, "ValidationError");
    assert.match(answer.text, /not supported/);
  }
});

test("GetSessionToken returns credentials that may do what the access key may do", async (t) => {
  const scene = await stsScene(t);
  const parent = await scene.newKey({ grants: [parseGrant("photos/2026/*:read")] });
  const key = credentialsIn(await scene.call({ Action: "GetSessionToken" }, parent));
  assert.equal(await statusOf(scene, key, "/photos/2026/a"), 200);
  assert.equal(await statusOf(scene, key, "/photos/2025/a"), 403);
  const again = await scene.call({ Action: "GetSessionToken" }, key);
  assert.equal(again.code, "AccessDenied");
});

test("GetCallerIdentity names the access key or the role", async (t) => {
  const scene = await stsScene(t);
  await scene.newRole("reader", ["photos:read"], { accounts: ["default"] });
  const identity = async (key: Key) => (await scene.call({ Action: "GetCallerIdentity" }, key)).text;
  const own = await identity(scene.key);
  assert.equal(element(own, "Arn"), `arn:aws:iam::default:user/${scene.key.accessKeyId}`);
  assert.equal(element(own, "Account"), "default");
  const key = credentialsIn(await scene.call(assume("reader"), scene.key));
  assert.match(element(await identity(key), "Arn")!, /^arn:aws:sts::default:assumed-role\/reader\/TEMP/);
});

test("a GET request with the parameters in the query is answered", async (t) => {
  const { ask, key } = await stsScene(t);
  const query = [
    ["Action", "GetCallerIdentity"],
    ["Version", "2011-06-15"],
  ] as const;
  for (const form of ["header", "query"] as const) {
    const payload = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    const answer = await ask({ method: "GET", path: "/", query }, { key, form, payload, service: "sts" });
    assert.equal(answer.status, 200, answer.text);
  }
});

test("faults of STS requests have the codes and the form of STS", async (t) => {
  const { call, send, ask, key, newRole } = await stsScene(t);
  await newRole("reader", ["photos:read"], { accounts: ["default"] });
  const codes = async (parameters: Record<string, string>, given?: Key) => {
    const { status, code, text } = await call(parameters, given);
    assert.match(text, /<ErrorResponse xmlns="https:\/\/sts.amazonaws.com\/doc\/2011-06-15\/"><Error><Type>/);
    return [status, code];
  };
  assert.deepEqual(await codes({}, key), [400, "MissingAction"]);
  assert.deepEqual(await codes({ Action: "DecodeAuthorizationMessage" }, key), [400, "InvalidAction"]);
  assert.deepEqual(await codes({ ...assume("reader"), Version: "2012-10-17" }, key), [400, "InvalidAction"]);
  assert.deepEqual(await codes(assume("reader")), [403, "MissingAuthenticationToken"]);
  assert.deepEqual(await codes(assume("reader"), { ...key, secretAccessKey: "wrong" }), [
    ...[403, "SignatureDoesNotMatch"],
  ]);
  assert.deepEqual(await codes(assume("reader"), { ...key, accessKeyId: "UNKNOWN" }), [
    ...[403, "InvalidClientTokenId"],
  ]);
  assert.deepEqual(await codes(assume("reader"), { ...key, sessionToken: "forged" }), [
    ...[403, "InvalidClientTokenId"],
  ]);
  const unknown = await call(assume("reader"), { ...key, accessKeyId: "UNKNOWN" });
  assert.match(unknown.text, /The security token included in the request is invalid/);
  assert.deepEqual(await codes(assume("reader"), { ...key, accessKeyId: "two words" }), [
    ...[400, "IncompleteSignature"],
  ]);
  const badName = await call({ ...assume("reader"), RoleSessionName: "a b" }, key);
  assert.match(badName.text, /roleSessionName.*Member must satisfy regular expression pattern/);
  for (const wrong of [{ RoleArn: "reader" }, { RoleSessionName: "a b" }, { RoleSessionName: "" }])
    assert.deepEqual(await codes({ ...assume("reader"), ...wrong }, key), [400, "ValidationError"]);
  const form = {
    method: "POST",
    path: "/",
    headers: { "content-type": "application/x-www-form-urlencoded" },
  };
  const s3Signed = await ask({ ...form, body: Buffer.from("Action=GetCallerIdentity&Version=2011-06-15") });
  assert.equal(s3Signed.status, 400, "a signature for S3 is not one for STS");
  const changed = await call({ Action: "GetCallerIdentity" }, key);
  assert.equal(changed.status, 200);
  const large = await send({ ...form, body: Buffer.alloc(65 * 1024, "a") });
  assert.equal(large.status, 400);
  const twice = await send({ ...form, body: Buffer.from("Action=AssumeRole&Action=GetCallerIdentity") });
  assert.equal(twice.code, "ValidationError");
});

test("a changed body does not match the signature", async (t) => {
  const { ask, key, newRole } = await stsScene(t);
  await newRole("reader", ["photos:read"], { accounts: ["default"] });
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const body = Buffer.from(new URLSearchParams({ Version: "2011-06-15", ...assume("reader") }).toString());
  const payload = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  for (const wrong of [payload, "UNSIGNED-PAYLOAD"]) {
    const request = { method: "POST", path: "/", headers, body };
    const { code } = await ask(request, { key, service: "sts", payload: wrong });
    assert.equal(code, "SignatureDoesNotMatch");
  }
});

test("STS requests are logged by action, and new credentials are recorded in the audit log", async (t) => {
  const exchanges: Exchange[] = [];
  const entries: Omit<AuditEntry, "time">[] = [];
  const scene = await stsScene(t, {
    onExchange: (exchange) => exchanges.push(exchange),
    recordAudit: async (entry) => void entries.push(entry),
  });
  await scene.newRole("reader", ["photos:read"], { accounts: ["default"] });
  const key = credentialsIn(await scene.call(assume("reader"), scene.key));
  const last = exchanges.at(-1)!;
  assert.deepEqual(
    [last.operation, last.accessKeyId, last.status],
    ["AssumeRole", scene.key.accessKeyId, 200],
  );
  const { act, subject, detail, by } = entries.at(-1)!;
  assert.deepEqual([act, subject, detail], ["create temporary credentials", "role:reader", "session"]);
  assert.equal(by.name, scene.key.accessKeyId);
  await scene.ask({ method: "GET", path: "/photos/2026/a" }, { key });
  assert.equal(exchanges.at(-1)!.accessKeyId, `role:reader/${key.accessKeyId}`);
  const before = entries.length;
  for (let i = 0; i < 20; i++) await scene.call(assume("reader"), scene.key);
  assert.ok(entries.length - before <= 1, "many requests make few entries");
});

test("calls of STS and of an assumed role count for the rate of the access key", async (t) => {
  let time = Date.now();
  const scene = await stsScene(t, { now: () => time });
  await scene.newRole("reader", ["photos:read"], { accounts: ["default"] });
  const key = await scene.newKey({ limits: { requestsPerSecond: 2 } });
  const role = credentialsIn(await scene.call(assume("reader"), key));
  const get = { method: "GET", path: "/photos/2026/a" };
  const code = async () => (await scene.ask(get, { key: role, time })).code;
  assert.equal(await code(), undefined);
  assert.equal(await code(), "SlowDown", "AssumeRole and the first GET used up the second");
  assert.equal((await scene.call({ Action: "GetCallerIdentity" }, key)).code, "Throttling");
  assert.equal((await scene.call(assume("reader"), key)).code, "Throttling");
  assert.equal((await scene.call(assume("reader"), scene.key)).status, 200, "another key");
  time += 1000;
  const again = credentialsIn(await scene.call(assume("reader"), key));
  assert.equal((await scene.ask(get, { key: again, time })).code, undefined);
  assert.equal(await code(), "SlowDown", "all sessions of the key together");
});

test("the credentials of a role end with the access key that assumed it", async (t) => {
  const scene = await stsScene(t);
  await scene.newRole("reader", ["photos:read"], { accounts: ["default"] });
  const parent = await scene.newKey();
  const key = credentialsIn(await scene.call(assume("reader"), parent));
  const code = async () => (await scene.ask({ method: "GET", path: "/photos/2026/a" }, { key })).code;
  assert.equal(await code(), undefined);
  await scene.credentials.rotate(parent.accessKeyId);
  assert.equal(await code(), undefined, "a new secret is not another key");
  await scene.credentials.disable(parent.accessKeyId);
  assert.equal(await code(), "InvalidAccessKeyId");
  await scene.credentials.enable(parent.accessKeyId);
  assert.equal(await code(), undefined);
  await scene.credentials.delete(parent.accessKeyId);
  assert.equal(await code(), "InvalidAccessKeyId");
});
