// Expiry and revocation of tokens and sessions.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createSessions, sessionMilliseconds } from "../../../src/console/auth/sessions.ts";
import { createTokens, newToken } from "../../../src/console/auth/tokens.ts";
import { openEngine } from "../../../src/open.ts";

async function scene(t: TestContext) {
  const { engine, documents } = await openEngine("memory:");
  t.after(() => engine.close());
  const clock = { time: 1_000_000 };
  const now = () => clock.time;
  const tokens = createTokens(documents, now);
  return { clock, now, documents, tokens, sessions: createSessions({ documents, tokens, now }) };
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
  const { now, documents, tokens, sessions } = await scene(t);
  const own = newToken();
  assert.equal(await sessions.open(own.token), undefined);
  const dev = createSessions({ documents, tokens, now, ownToken: own.hash });
  const { id } = (await dev.open(own.token))!;
  assert.equal((await dev.find(id))?.by, "dev");
  assert.equal(await sessions.find(id), undefined);
  const next = createSessions({ documents, tokens, now, ownToken: newToken().hash });
  assert.equal((await next.find(id))?.by, "dev", "dev was restarted");
  assert.equal(await next.open(own.token), undefined);
});
