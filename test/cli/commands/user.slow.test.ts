// `store user` and `store console`: users, roles of tokens, and sessions.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { createSessions } from "../../../src/console/auth/sessions.ts";
import { createTokens } from "../../../src/console/auth/tokens.ts";
import { createUsers } from "../../../src/console/auth/users.ts";
import { openEngine } from "../../../src/open.ts";
import { openShell } from "../store.ts";

interface User {
  readonly name: string;
  readonly role: string | null;
  readonly buckets: Readonly<Record<string, string>>;
}

test("a user is created, shown, changed and deleted, and the audit log has it all", async (t) => {
  const shell = await openShell(t);
  const json = async <T>(...args: string[]) => JSON.parse(await shell.store(...args, "--json")) as T;
  const made = await json<User>("user", "create", "anna", "--role", "viewer", "--bucket", "photos:editor");
  assert.deepEqual([made.name, made.role, made.buckets], ["anna", "viewer", { photos: "editor" }]);
  const changed = await json<User>("user", "change", "anna", "--role", "none", "--bucket", "logs:viewer");
  assert.deepEqual([changed.role, changed.buckets], [null, { photos: "editor", logs: "viewer" }]);
  const { id } = await json<{ id: string }>("console", "token", "--user", "anna", "--name", "laptop");
  const shown = await json<User & { tokens: { id: string; name: string }[] }>("user", "show", "anna");
  assert.deepEqual(shown.tokens, [{ id, name: "laptop", state: "active" }]);
  assert.match(await shell.store("console", "list"), /laptop\s+of user anna/);
  await shell.store("user", "delete", "anna");
  assert.deepEqual(await json("user", "list"), []);
  assert.deepEqual(await json("console", "list"), []);
  const audit = await shell.store("audit");
  for (const action of ["create user", "change user", "delete user"])
    assert.match(audit, new RegExp(`${action}\\s+anna`));
});

test("wrong roles, names and combinations are refused, and nothing is changed", async (t) => {
  const shell = await openShell(t);
  await shell.store("user", "create", "anna", "--role", "viewer");
  const usage = (...args: string[]) => shell.fails(2, args);
  assert.match(await usage("user", "create", "bert"), /Specify a role/);
  assert.match(await usage("user", "create", "bert", "--role", "owner"), /not "owner"/);
  assert.match(await usage("user", "create", "bert", "--bucket", "photos"), /photos:editor/);
  assert.match(await usage("user", "create", "../bert", "--role", "viewer"), /letters, digits/);
  assert.match(await usage("user", "change", "anna"), /what to change/);
  assert.match(await usage("user", "change", "anna", "--role", "none"), /no role left/);
  assert.match(await usage("console", "token", "--user", "anna", "--role", "editor"), /roles of the user/);
  assert.match(await shell.fails(1, ["user", "create", "anna", "--role", "editor"]), /already exists/);
  assert.match(await shell.fails(1, ["user", "show", "bert"]), /There is no user "bert"/);
  assert.match(await shell.fails(1, ["user", "delete", "bert"]), /There is no user "bert"/);
  assert.match(await shell.fails(1, ["console", "token", "--user", "bert"]), /There is no user "bert"/);
  assert.match(await shell.store("user", "show", "anna"), /role\s+viewer/);
});

test("console sessions lists all sessions, also of providers, and ends one", async (t) => {
  const shell = await openShell(t);
  const { token } = JSON.parse(
    await shell.store("console", "token", "--name", "wall", "--role", "viewer", "--json"),
  ) as { token: string };
  const { engine, documents } = await openEngine(join(shell.directory, ".store"));
  const sessions = createSessions({
    ...{ documents, now: Date.now, groupPermissions: () => ({ role: "editor" as const }) },
    tokens: createTokens(documents, Date.now),
    users: createUsers(documents, Date.now),
  });
  const { id, session } = (await sessions.open(token, "192.0.2.7"))!;
  const identity = { provider: "company", subject: "7", name: "bert", groups: ["staff"] };
  await sessions.openFor(identity);
  await engine.close();
  const listed = await shell.store("console", "sessions");
  assert.match(listed, new RegExp(`${session.publicId}\\s+wall\\s+viewer.*192\\.0\\.2\\.7`));
  assert.match(listed, /bert\s+by groups of company/);
  assert.ok(!listed.includes(id));
  assert.match(await shell.store("console", "sessions", "end", session.publicId), /Ended the session/);
  assert.doesNotMatch(await shell.store("console", "sessions", "list"), /wall/);
  assert.match(await shell.fails(1, ["console", "sessions", "end", session.publicId]), /There is no session/);
  await shell.fails(2, ["console", "sessions", "end"]);
  assert.match(await shell.store("console", "list"), /wall\s+viewer\s+active/);
});
