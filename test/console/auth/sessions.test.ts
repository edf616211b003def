// Expiry and revocation of tokens and sessions.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createSessions, maxSessions, sessionMilliseconds } from "../../../src/console/auth/sessions.ts";
import { createTokens, newToken } from "../../../src/console/auth/tokens.ts";
import { createUsers } from "../../../src/console/auth/users.ts";
import { openEngine } from "../../../src/open.ts";

async function scene(t: TestContext) {
  const { engine, documents } = await openEngine("memory:");
  t.after(() => engine.close());
  const clock = { time: 1_000_000 };
  const now = () => clock.time;
  const tokens = createTokens(documents, now);
  const users = createUsers(documents, now);
  const sessions = createSessions({ documents, tokens, users, now });
  return { clock, now, documents, tokens, users, sessions };
}

test("a session ends when it expires, on sign-out, and when its token is deleted", async (t) => {
  const { clock, tokens, sessions, documents } = await scene(t);
  const { token, info } = await tokens.create({ name: "anna" });
  const first = (await sessions.open(token))!;
  const second = (await sessions.open(token))!;
  assert.equal((await sessions.find(first.id))?.name, "anna");
  await sessions.close(first.id);
  assert.equal(await sessions.find(first.id), undefined);
  clock.time += sessionMilliseconds - 1;
  assert.equal((await sessions.find(second.id))?.by, info.id);
  clock.time += 1;
  assert.equal(await sessions.find(second.id), undefined);
  const third = (await sessions.open(token))!;
  assert.equal((await documents.list("console session")).length, 1, "ended sessions are deleted");
  assert.equal(await tokens.revoke(info.id), true);
  assert.equal(await sessions.find(third.id), undefined);
  assert.equal(await sessions.open(token), undefined);
});

test("a session lives no longer than its time on a clock that is set forward and back", async (t) => {
  const { clock, tokens, sessions } = await scene(t);
  const day = 24 * 3600 * 1000;
  const start = 1000 * day;
  clock.time = start;
  const { token } = await tokens.create({ name: "anna" });
  const { id } = (await sessions.open(token))!;
  clock.time = start - 10 * 60_000;
  assert.equal((await sessions.find(id))?.name, "anna", "a small correction ends no session");
  clock.time = start + 13 * 3600 * 1000;
  assert.equal(await sessions.find(id), undefined, "expired");
  clock.time -= day;
  assert.equal(await sessions.find(id), undefined, "expired, and the clock was set back by a day");
  clock.time = start + 365 * day;
  const future: string[] = [];
  for (let i = 0; i < maxSessions; i++) future.push((await sessions.open(token))!.id);
  clock.time = start;
  for (const one of future) assert.equal(await sessions.find(one), undefined, "opened in a year");
  const kept = [(await sessions.open(token))!, (await sessions.open(token))!];
  for (const one of kept) assert.ok(await sessions.find(one.id), "ended sessions take no place of new ones");
  assert.equal((await sessions.list()).length, kept.length);
});

test("an expired token cannot sign in, and its sessions end", async (t) => {
  const { clock, tokens, sessions } = await scene(t);
  const { token, info } = await tokens.create({ name: "anna", expires: clock.time + 1000 });
  const { id } = (await sessions.open(token))!;
  clock.time += 1000;
  assert.equal(await sessions.find(id), undefined);
  assert.equal(await sessions.open(token), undefined);
  assert.deepEqual(
    (await tokens.list()).map(({ id, state }) => [id, state]),
    [[info.id, "expired"]],
  );
  assert.equal(await tokens.revoke("not an id"), false);
});

test("a restart of store dev makes its previous token invalid, but sessions opened with it stay valid", async (t) => {
  const { now, documents, tokens, users, sessions } = await scene(t);
  const own = newToken();
  assert.equal(await sessions.open(own.token), undefined);
  const dev = createSessions({ documents, tokens, users, now, ownToken: own.hash });
  const { id } = (await dev.open(own.token))!;
  assert.equal((await dev.find(id))?.by, "dev");
  assert.equal(await sessions.find(id), undefined);
  const next = createSessions({ documents, tokens, users, now, ownToken: newToken().hash });
  assert.equal((await next.find(id))?.by, "dev", "dev was restarted");
  assert.equal(await next.open(own.token), undefined);
});

test("a token without a role is an administrator, also if it was stored by an earlier release", async (t) => {
  const { tokens, sessions, documents } = await scene(t);
  const { token, info } = await tokens.create({ name: "anna" });
  assert.deepEqual((await sessions.open(token))!.session.permissions, { role: "administrator" });
  const { revision } = (await documents.get("console token", info.id))!;
  const { hash } = JSON.parse((await documents.get("console token", info.id))!.text) as { hash: string };
  const earlier = JSON.stringify({ name: "anna", created: 1, hash });
  assert.equal(await documents.put("console token", info.id, earlier, revision), "committed");
  assert.deepEqual((await sessions.open(token))!.session.permissions, { role: "administrator" });
  assert.deepEqual(await sessions.findPermissions(token), { role: "administrator" });
});

test("a change of a user's role and the end of the user take effect on open sessions", async (t) => {
  const { tokens, users, sessions } = await scene(t);
  assert.equal(await users.create("anna", { role: "viewer" }), true);
  assert.equal(await users.create("anna", { role: "administrator" }), false);
  const { token } = await tokens.create({
    name: "laptop",
    user: "anna",
    permissions: { role: "administrator" },
  });
  const { id, session } = (await sessions.open(token))!;
  assert.equal(session.name, "anna");
  assert.deepEqual(session.permissions, { role: "viewer" }, "the role of the user counts");
  await users.change("anna", { buckets: { photos: "editor" } });
  assert.deepEqual((await sessions.find(id))?.permissions, { buckets: { photos: "editor" } });
  assert.equal(await users.delete("anna"), true);
  assert.equal(await sessions.find(id), undefined);
  assert.equal(await sessions.open(token), undefined);
  assert.equal(await users.change("anna", { role: "viewer" }), false);
  await users.create("anna", { role: "viewer" });
  await tokens.revokeOf("anna");
  assert.equal(await sessions.open(token), undefined, "tokens do not come back with a new user");
});

test("the use of a token is noted once a minute, and never brings a revoked token back", async (t) => {
  const { clock, tokens } = await scene(t);
  const { token, info } = await tokens.create({ name: "ci" });
  assert.equal(info.lastUsed, undefined);
  await tokens.verify(token);
  const first = (await tokens.find(info.id))!.lastUsed;
  assert.equal(first, clock.time);
  clock.time += 59_000;
  await tokens.verify(token);
  assert.equal((await tokens.find(info.id))!.lastUsed, first);
  clock.time += 1000;
  await Promise.all([tokens.verify(token), tokens.revoke(info.id)]);
  assert.equal(await tokens.find(info.id), undefined);
});

test("sessions are listed without secrets and ended by their public id", async (t) => {
  const { tokens, sessions } = await scene(t);
  const { token } = await tokens.create({ name: "anna" });
  const { id, session } = (await sessions.open(token, "192.0.2.7"))!;
  const [listed] = await sessions.list();
  assert.deepEqual(listed, session);
  assert.equal(listed!.address, "192.0.2.7");
  assert.ok(!JSON.stringify(listed).includes(id));
  assert.equal(await sessions.find(session.publicId), undefined, "the public id does not sign in");
  for (const wrong of ["", session.publicId.slice(1), `${session.publicId}0`, id])
    assert.equal(await sessions.end(wrong), false);
  assert.equal(await sessions.end(session.publicId), true);
  assert.equal(await sessions.find(id), undefined);
  assert.deepEqual(await sessions.list(), []);
});

test("a token and a provider's user have a limited number of sessions, of which the oldest end", async (t) => {
  const { clock, documents, tokens, users, now } = await scene(t);
  const groupPermissions = () => ({ role: "viewer" }) as const;
  const sessions = createSessions({ documents, tokens, users, now, groupPermissions });
  const { token } = await tokens.create({ name: "anna" });
  const other = await tokens.create({ name: "bert" });
  const identity = (subject: string) => ({ provider: "company", subject, name: "c", groups: [] });
  const ofOthers = [
    (await sessions.open(other.token))!.id,
    (await sessions.openFor(identity("1")))!.id,
    (await sessions.openFor(identity("2")))!.id,
  ];
  const openers = [() => sessions.open(token), () => sessions.openFor(identity("3"))];
  for (const open of openers) {
    const ids: string[] = [];
    for (let i = 0; i < maxSessions + 3; i++) {
      clock.time++;
      ids.push((await open())!.id);
    }
    const found = await Promise.all(ids.map(async (id) => (await sessions.find(id)) !== undefined));
    assert.deepEqual(found, [false, false, false, ...Array(maxSessions).fill(true)]);
  }
  for (const id of ofOthers) assert.notEqual(await sessions.find(id), undefined);
  assert.equal((await documents.list("console session")).length, 2 * maxSessions + ofOthers.length);
});

test("the permissions of a provider's user follow the current mapping of groups", async (t) => {
  const { documents, tokens, users, now } = await scene(t);
  let mapped: Record<string, "viewer" | "editor"> = { staff: "viewer" };
  const groupPermissions = (_: string, groups: readonly string[]) => {
    const role = groups.map((group) => mapped[group]).find((one) => one !== undefined);
    return role === undefined ? {} : { role };
  };
  const sessions = createSessions({ documents, tokens, users, now, groupPermissions });
  const identity = { provider: "company", subject: "7", name: "anna", groups: ["staff"] };
  const { id } = (await sessions.openFor(identity))!;
  assert.deepEqual((await sessions.find(id))?.permissions, { role: "viewer" });
  mapped = { staff: "editor" };
  assert.deepEqual((await sessions.find(id))?.permissions, { role: "editor" });
  mapped = {};
  assert.equal(await sessions.find(id), undefined);
  assert.equal(await sessions.openFor(identity), undefined);
});

test("a sign-in reads the sessions of its own token only, except once in ten minutes", async (t) => {
  const { documents, tokens, users, now, clock } = await scene(t);
  let listed = 0;
  const counted = {
    ...documents,
    async list(kind: string, prefix?: string) {
      const found = await documents.list(kind, prefix);
      listed += found.length;
      return found;
    },
  };
  const sessions = createSessions({ documents: counted, tokens, users, now });
  const [anna, bert] = [await tokens.create({ name: "anna" }), await tokens.create({ name: "bert" })];
  for (let i = 0; i < 50; i++) await sessions.open(anna.token);
  const first = (await sessions.open(bert.token))!;
  listed = 0;
  const second = (await sessions.open(bert.token))!;
  assert.equal(listed, 1);
  await sessions.close(first.id);
  assert.equal(await sessions.end(second.session.publicId), true);
  listed = 0;
  await sessions.open(bert.token);
  assert.equal(listed, 0, "closed and ended sessions have left the index");
  clock.time += sessionMilliseconds;
  await sessions.open(bert.token);
  for (const kind of ["console session", "session of opener"])
    assert.equal((await documents.list(kind)).length, 1, kind);
});

test("a list of sessions reads each token once, and a session is found without the list", async (t) => {
  const { documents, tokens, users, now } = await scene(t);
  const reads: string[] = [];
  const counted = {
    ...documents,
    list(kind: string, prefix?: string) {
      if (prefix === undefined) reads.push(`all of ${kind}`);
      return documents.list(kind, prefix);
    },
  };
  const finding = {
    ...tokens,
    find(id: string) {
      reads.push(id);
      return tokens.find(id);
    },
  };
  const { token, info } = await tokens.create({ name: "anna" });
  const sessions = createSessions({ documents: counted, tokens: finding, users, now });
  for (let i = 0; i < 20; i++) await sessions.open(token);
  reads.length = 0;
  const all = await sessions.list();
  assert.equal(all.length, 20);
  assert.deepEqual(reads, ["all of console session", info.id]);
  reads.length = 0;
  assert.deepEqual(await sessions.describe(all[7]!.publicId), all[7]);
  for (const id of ["", "0", "%", "0".repeat(16)]) assert.equal(await sessions.describe(id), undefined, id);
  assert.deepEqual(reads, [info.id]);
});
