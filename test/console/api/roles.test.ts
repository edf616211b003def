// Every route × every role. The routes come from the console itself; a route that is missing in the
// table below fails the test.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Permissions, type Right, type Role, roles } from "../../../src/console/auth/roles.ts";
import type { SessionDocument, SessionsDocument } from "../../../src/console/wire-session.ts";
import type { BucketsDocument } from "../../../src/console/wire-types.ts";
import { apiScene } from "./scene.ts";

/** What each route needs: a right on the store, a right on the bucket, or only a session. */
const expected: Readonly<Record<string, `${Right} ${"store" | "bucket"}` | "session">> = {
  "GET /api/session": "session",
  "DELETE /api/session": "session",
  "GET /api/sessions": "session",
  "DELETE /api/sessions": "session",
  "GET /api/buckets": "session",
  "GET /api/buckets/totals": "view bucket",
  "POST /api/buckets": "administer store",
  "DELETE /api/buckets": "administer bucket",
  "POST /api/buckets/empty": "administer bucket",
  "GET /api/bucket": "view bucket",
  "GET /api/bucket/access": "view bucket",
  "GET /api/objects": "view bucket",
  "GET /api/objects/search": "view bucket",
  "POST /api/objects/copy": "edit bucket",
  "POST /api/archive": "view bucket",
  "GET /api/archive": "view bucket",
  "GET /api/shares": "view bucket",
  "POST /api/shares": "edit bucket",
  "DELETE /api/shares": "edit bucket",
  "GET /api/notifications": "view bucket",
  "POST /api/notifications": "administer bucket",
  "DELETE /api/notifications": "administer bucket",
  "POST /api/notifications/test": "administer bucket",
  "POST /api/objects/delete": "edit bucket",
  "GET /api/objects/deleted": "view bucket",
  "POST /api/objects/restore": "edit bucket",
  "GET /api/versions": "view bucket",
  "POST /api/versions/restore": "edit bucket",
  "POST /api/versions/delete": "edit bucket",
  "GET /api/object": "view bucket",
  "PUT /api/object": "edit bucket",
  "POST /api/object/metadata": "edit bucket",
  "PUT /api/object/tags": "edit bucket",
  "PUT /api/object/retention": "administer bucket",
  "PUT /api/object/legal-hold": "administer bucket",
  "GET /api/object/frame": "view bucket",
  "POST /api/object/link": "edit bucket",
  "GET /api/content": "view bucket",
  "GET /api/uploads": "view bucket",
  "POST /api/uploads": "edit bucket",
  "GET /api/uploads/parts": "view bucket",
  "PUT /api/uploads/part": "edit bucket",
  "POST /api/uploads/complete": "edit bucket",
  "DELETE /api/uploads": "edit bucket",
  "GET /api/keys": "administer store",
  "POST /api/keys": "administer store",
  "POST /api/keys/rotate": "administer store",
  "POST /api/keys/disable": "administer store",
  "POST /api/keys/enable": "administer store",
  "DELETE /api/keys": "administer store",
  "GET /api/accounts": "administer store",
  "PUT /api/accounts/quota": "administer store",
  "GET /api/metrics": "view store",
  "GET /api/bucket/metrics": "view bucket",
  "GET /api/rules": "view bucket",
  "POST /api/rules/check": "administer bucket",
  "PUT /api/rules": "administer bucket",
  "GET /api/settings": "view bucket",
  "PUT /api/settings": "administer bucket",
  "GET /api/scripts": "view store",
  "GET /api/scripts/log": "view store",
  "POST /api/scripts/restart": "administer store",
  "PUT /api/scripts/secrets": "administer store",
  "DELETE /api/scripts/secrets": "administer store",
  "GET /api/users": "administer store",
  "POST /api/users": "administer store",
  "PUT /api/users": "administer store",
  "DELETE /api/users": "administer store",
  "POST /api/tokens": "administer store",
  "DELETE /api/tokens": "administer store",
  "GET /api/audit": "administer store",
  "POST /api/audit/verify": "administer store",
  "GET /api/health": "view store",
  "GET /api/about": "administer store",
};

/** Rights of each role, written out. */
const rightsOf: Readonly<Record<Role, readonly Right[]>> = {
  viewer: ["view"],
  editor: ["view", "edit"],
  administrator: ["view", "edit", "administer"],
};

const permissionSets: readonly Permissions[] = [
  ...roles.map((role) => ({ role })),
  ...roles.map((role) => ({ buckets: { bucket: role } })),
  ...roles.map((role) => ({ buckets: { other: role } })),
  ...roles.map((role) => ({ role: "viewer" as const, buckets: { bucket: role } })),
  ...roles.map((role) => ({ role: "viewer" as const, buckets: { other: role } })),
  {},
];

function isAllowed({ role, buckets = {} }: Permissions, need: string): boolean {
  if (need === "session") return true;
  const [right, on] = need.split(" ") as [Right, "store" | "bucket"];
  const has = (one: Role | undefined) => one !== undefined && rightsOf[one].includes(right);
  return has(role) || (on === "bucket" && has((buckets as Record<string, Role>).bucket));
}

test("the table of this test lists exactly the routes of the console", async (t) => {
  const { routes } = await apiScene(t);
  const names = routes.map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(Object.keys(expected).sort(), names.sort());
});

test("every route obeys every role", async (t) => {
  const { routes, signIn, engine } = await apiScene(t);
  let cells = 0;
  for (const permissions of permissionSets) {
    let client = await signIn(permissions);
    for (const { method, path } of routes) {
      const name = `${method} ${path}`;
      if ((await engine.bucket("bucket")) === undefined) await engine.createBucket("bucket");
      const query = { bucket: "bucket", key: "key", upload: "u", number: 1, kind: "cors" };
      const json = { bucket: "bucket", key: "key", name: "another-bucket", keys: [], seconds: 60 };
      const { status, text } = await client.ask(name, { query, ...(method === "GET" ? {} : { json }) });
      const isRefused = status === 403 && /Your role does not allow this/.test(text);
      const shown = `${name} with ${JSON.stringify(permissions)}: ${status} ${text}`;
      assert.equal(!isRefused, isAllowed(permissions, expected[name]!), shown);
      assert.ok(status < 500 && status !== 401, shown);
      if (name === "DELETE /api/session") client = await signIn(permissions);
      cells++;
    }
  }
  assert.equal(cells, permissionSets.length * Object.keys(expected).length);
});

test("a refused request changes nothing and says which role it needs", async (t) => {
  const { engine, signIn, audited } = await apiScene(t);
  await engine.put("bucket", "key", Buffer.from("text"));
  const viewer = await signIn({ role: "viewer" });
  const message = await viewer.refused(403, "POST /api/objects/delete", {
    json: { bucket: "bucket", keys: ["key"] },
  });
  assert.equal(message, 'Your role does not allow this: it needs editor for the bucket "bucket".');
  const missing = await viewer.refused(403, "DELETE /api/buckets", { query: { bucket: "missing" } });
  assert.match(missing, /administrator for the bucket "missing"/, "does not reveal whether it exists");
  assert.notEqual(await engine.head("bucket", "key"), undefined);
  assert.deepEqual(audited, ["deny request bucket", "deny request missing"]);
  // A second bucket parameter must not replace the one that was checked.
  const editor = await signIn({ buckets: { other: "editor" } });
  await engine.createBucket("other");
  const search = "bucket=other&bucket=bucket&key=key";
  const { status } = await editor.ask(`PUT /api/object?${search}&`, { json: {} });
  assert.equal(status, 201);
  assert.equal((await engine.head("bucket", "key"))?.size, 4);
});

test("the names of built-in properties are not buckets with a role", async (t) => {
  const { signIn } = await apiScene(t);
  const client = await signIn({ buckets: {} });
  for (const bucket of ["constructor", "__proto__", "toString", ""])
    await client.refused(403, "GET /api/objects", { query: { bucket } });
});

test("the list of buckets and the session show only what the role allows", async (t) => {
  const { engine, signIn } = await apiScene(t);
  await engine.createBucket("photos");
  const names = async (permissions: Permissions) => {
    const { buckets } = await (await signIn(permissions)).get<BucketsDocument>("GET /api/buckets");
    return buckets.map(({ name }) => name);
  };
  assert.deepEqual(await names({ role: "viewer" }), ["bucket", "photos"]);
  assert.deepEqual(await names({ buckets: { photos: "viewer" } }), ["photos"]);
  assert.deepEqual(await names({ buckets: { missing: "administrator" } }), []);
  const client = await signIn({ role: "viewer", buckets: { photos: "editor" } });
  const session = await client.get<SessionDocument>("GET /api/session");
  assert.equal(session.role, "viewer");
  assert.deepEqual(session.buckets, { photos: "editor" });
});

test("administrators see and end all sessions, other users only their own", async (t) => {
  const { get, signIn, refused, audited } = await apiScene(t);
  const viewer = await signIn({ role: "viewer" });
  const other = await signIn({ role: "editor" });
  const list = async (client: { get: typeof get }) =>
    (await client.get<SessionsDocument>("GET /api/sessions")).sessions;
  assert.equal((await list({ get })).length, 3);
  const [own, ...more] = await list(viewer);
  assert.equal(more.length, 0);
  assert.equal(own!.isCurrent, true);
  const [foreign] = await list(other);
  await viewer.refused(404, "DELETE /api/sessions", { query: { id: foreign!.id } });
  assert.equal((await list(other)).length, 1);
  await get("DELETE /api/sessions", { query: { id: foreign!.id } });
  await other.refused(401, "GET /api/sessions");
  await viewer.get("DELETE /api/sessions", { query: { id: own!.id } });
  await viewer.refused(401, "GET /api/session");
  await refused(404, "DELETE /api/sessions", { query: { id: own!.id } });
  assert.deepEqual(audited, [`end session ${foreign!.id}`, `end session ${own!.id}`]);
});
