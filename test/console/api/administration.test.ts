// Users, tokens, the audit log and facts about the server, over the console's API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createAuditSearch } from "../../../src/console/api/administration/audit-search.ts";
import type {
  AboutDocument,
  AuditDocument,
  ChainDocument,
  HealthDocument,
  NewTokenDocument,
  UsersDocument,
} from "../../../src/console/wire-administration.ts";
import type { SessionDocument } from "../../../src/console/wire-session.ts";
import { apiScene } from "./scene.ts";

test("a user is created, gets a token, changes the role in open sessions, and is deleted", async (t) => {
  const { get, ask, refused, audited, url } = await apiScene(t);
  const roles = { role: "viewer", buckets: { photos: "editor" } };
  await get("POST /api/users", { json: { name: "anna", ...roles } });
  await refused(409, "POST /api/users", { json: { name: "anna", ...roles } });
  const { id, token } = await get<NewTokenDocument>("POST /api/tokens", {
    json: { name: "laptop", user: "anna", days: "30" },
  });
  const listed = await get<UsersDocument>("GET /api/users");
  assert.deepEqual(
    listed.users.map(({ created, ...user }) => user),
    [{ name: "anna", ...roles }],
  );
  const [made] = listed.tokens;
  assert.deepEqual([made!.id, made!.user, made!.state, made!.lastUsed], [id, "anna", "active", null]);
  assert.ok(Math.abs(made!.expires! - Date.now() - 30 * 86_400_000) < 60_000);
  assert.ok(!JSON.stringify(listed).includes(token), "the list has no secret");

  const anna = await signInWith(url, token);
  assert.equal((await anna("GET /api/users")).status, 403);
  await get("PUT /api/users", { json: { name: "anna", role: "administrator" } });
  assert.equal((await anna("GET /api/users")).status, 200);
  const own = await anna("DELETE /api/users?name=anna");
  assert.equal(own.status, 409, "administrators do not delete themselves");
  const demoted = await anna("PUT /api/users", { name: "anna", role: "viewer" });
  assert.equal(demoted.status, 409);
  assert.deepEqual(((await anna("GET /api/session")).json as SessionDocument).role, "administrator");

  await get("DELETE /api/users", { query: { name: "anna" } });
  assert.equal((await anna("GET /api/session")).status, 401);
  assert.deepEqual((await get<UsersDocument>("GET /api/users")).tokens, []);
  assert.equal((await ask("DELETE /api/users", { query: { name: "anna" } })).status, 404);
  assert.deepEqual(
    audited.filter((entry) => /user|token/.test(entry)),
    ["create user anna", `create token ${id}`, "change user anna", "delete user anna"],
  );
});

test("a token with roles of its own is created and revoked", async (t) => {
  const { get, refused, url } = await apiScene(t);
  const json = { name: "wall screen", role: "viewer" };
  const { id, token } = await get<NewTokenDocument>("POST /api/tokens", { json });
  const screen = await signInWith(url, token);
  assert.equal((await screen("GET /api/health")).status, 200);
  await get("DELETE /api/tokens", { query: { id } });
  assert.equal((await screen("GET /api/health")).status, 401);
  await refused(404, "DELETE /api/tokens", { query: { id } });
});

test("users and tokens that are not valid are refused with what to do, and change nothing", async (t) => {
  const { get, refused } = await apiScene(t);
  const users: [unknown, RegExp][] = [
    [{}, /"name" must be a string/],
    [{ name: "an na", role: "viewer" }, /letters, digits/],
    [{ name: "anna" }, /needs a role/],
    [{ name: "anna", role: "root" }, /viewer, editor or administrator/],
    [{ name: "anna", buckets: { "../x": "viewer" } }, /BUCKET:ROLE/],
    [{ name: "anna", buckets: { __proto__x: "viewer" } }, /BUCKET:ROLE/],
    [{ name: "anna", buckets: { photos: "owner" } }, /viewer, editor or administrator/],
    [{ name: "anna", buckets: ["photos"] }, /an object of strings/],
  ];
  for (const [json, message] of users) assert.match(await refused(400, "POST /api/users", { json }), message);
  const tokens: [unknown, RegExp][] = [
    [{ name: "", role: "viewer" }, /1 to 60 characters/],
    [{ name: "a\nb", role: "viewer" }, /1 to 60 characters/],
    [{ name: "x" }, /needs a user or a role/],
    [{ name: "x", role: "viewer", days: "0" }, /1 to 36500/],
    [{ name: "x", role: "viewer", days: "1e3" }, /1 to 36500/],
    [{ name: "x", user: "anna", role: "viewer" }, /none of its own/],
  ];
  for (const [json, message] of tokens)
    assert.match(await refused(400, "POST /api/tokens", { json }), message);
  await refused(404, "POST /api/tokens", { json: { name: "x", user: "missing" } });
  await refused(404, "PUT /api/users", { json: { name: "missing", role: "viewer" } });
  assert.deepEqual(await get<UsersDocument>("GET /api/users"), { users: [], tokens: [] });
});

test("the audit log is found by words, kind and time, newest first, by page", async (t) => {
  const { get, refused, engine } = await apiScene(t);
  for (const name of ["photos", "letters"]) await get("POST /api/buckets", { json: { name } });
  await engine.put("letters", "to/anna.txt", Buffer.from("text"));
  await get("POST /api/objects/delete", { json: { bucket: "letters", keys: ["to/anna.txt"] } });
  await get("DELETE /api/buckets", { query: { bucket: "photos" } });
  const find = async (query: Record<string, string | number>) =>
    (await get<AuditDocument>("GET /api/audit", { query })).entries.map(
      ({ action, subject }) => `${action} ${subject}`,
    );
  assert.deepEqual(await find({ text: "deleted PHOTOS" }), ["delete bucket photos"]);
  assert.deepEqual(await find({ text: "anna.txt" }), ["delete objects letters"]);
  assert.deepEqual(await find({ kind: "deletions" }), ["delete bucket photos", "delete objects letters"]);
  assert.deepEqual(await find({ kind: "creations" }), ["create bucket letters", "create bucket photos"]);
  assert.deepEqual(await find({ action: "create bucket", text: "letters" }), ["create bucket letters"]);
  assert.deepEqual(await find({ since: Date.now() + 60_000 }), []);
  assert.deepEqual(await find({ until: 1000 }), []);
  const first = await get<AuditDocument>("GET /api/audit", { query: { limit: 2 } });
  assert.equal(first.entries[0]!.action, "delete bucket");
  assert.equal(first.entries[0]!.by.name, "store dev");
  assert.equal(first.entries[0]!.by.address, "127.0.0.1");
  const second = await get<AuditDocument>("GET /api/audit", { query: { limit: 500, before: first.before! } });
  assert.equal(second.before, undefined);
  assert.deepEqual([...first.entries, ...second.entries].length, (await find({ limit: 500 })).length);
  for (const query of [{ kind: "all" }, { action: "x" }, { limit: 0 }, { since: "soon" }, { before: "x" }])
    await refused(400, "GET /api/audit", { query });
  const chain = await get<ChainDocument>("POST /api/audit/verify", { json: {} });
  assert.deepEqual([chain.isWhole, chain.breaks], [true, []]);
  assert.match(chain.head!, /^[0-9a-f]{64}$/);
});

test("a search of the audit log finds entries that are no longer in memory, and new ones", async (t) => {
  const { auditLog } = await apiScene(t);
  const search = createAuditSearch(auditLog, 5);
  const record = (i: number) =>
    auditLog.record({
      ...{ time: new Date(i * 1000).toISOString(), act: "create bucket", subject: `bucket-${i}` },
      by: { face: "server" },
    });
  const all = { actions: undefined, since: undefined, until: undefined, before: undefined };
  const find = async (text: string, limit: number) => {
    const { entries, isMore } = await search.find({ ...all, text, limit });
    return [entries.map(({ entry }) => entry.subject), isMore];
  };
  for (let i = 1; i <= 30; i++) await record(i);
  assert.deepEqual(await find("bucket-3", 1), [["bucket-30"], true]);
  assert.deepEqual(await find("bucket-1", 20), [
    ["19", "18", "17", "16", "15", "14", "13", "12", "11", "10", "1"].map((i) => `bucket-${i}`),
    false,
  ]);
  await record(31);
  assert.deepEqual(await find("", 2), [["bucket-31", "bucket-30"], true]);
  // The sign-in of the test is the first entry.
  const { entries } = await search.find({ ...all, text: "", limit: 3, before: 5 });
  assert.deepEqual(
    entries.map(({ entry }) => entry.subject),
    ["bucket-3", "bucket-2", "bucket-1"],
  );
});

test("viewers see the server's health, and only administrators where it stores data", async (t) => {
  const { get, signIn } = await apiScene(t);
  const viewer = await signIn({ role: "viewer" });
  assert.equal((await viewer.get<HealthDocument>("GET /api/health")).version, "1.2.3");
  await viewer.refused(403, "GET /api/about");
  assert.deepEqual((await get<AboutDocument>("GET /api/about")).providers, []);
});

/** Signs in with a token; returns a client. */
async function signInWith(url: string, token: string) {
  const headers = { "x-store-console": "1", "content-type": "application/json" };
  const body = JSON.stringify({ token });
  const signedIn = await fetch(`${url}/api/session`, { method: "POST", headers, body });
  const cookie = signedIn.headers.getSetCookie()[0]!.split(";")[0]!;
  return async (name: string, json?: unknown) => {
    const [method = "", path = ""] = name.split(" ");
    const response = await fetch(`${url}${path}`, {
      ...{ method, headers: { ...headers, cookie, connection: "close" } },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    const text = await response.text();
    return { status: response.status, json: text === "" ? undefined : (JSON.parse(text) as unknown) };
  };
}
