// Retention and legal hold of an object, and quotas of accounts, in the console's API.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AccountsDocument } from "../../../../src/console/wire-administration.ts";
import type { ObjectDocument } from "../../../../src/console/wire-types.ts";
import { apiScene } from "../scene.ts";

const bucket = "bucket";
const key = "contract.pdf";
const day = 24 * 3600 * 1000;

test("retention and legal hold of an object are shown, set and removed, and recorded", async (t) => {
  const scene = await apiScene(t);
  const { engine, get, audited } = scene;
  const read = () => get<ObjectDocument>("GET /api/object", { query: { bucket, key } });
  await engine.put(bucket, key, Buffer.from("text"));
  assert.equal((await read()).objectLock, undefined, "the bucket has no Object Lock");
  await engine.changeSettings(bucket, { versioning: "on" });
  await engine.changeSettings(bucket, { objectLock: {} });
  await engine.put(bucket, key, Buffer.from("text"));
  const { version, objectLock } = await read();
  assert.deepEqual(objectLock, { retention: null, isOnHold: false });
  const target = { bucket, key, version };
  const until = Date.now() + day;
  const retain = (json: object) => scene.ask("PUT /api/object/retention", { json: { ...target, ...json } });
  const hold = (isOnHold: boolean) =>
    scene.ask("PUT /api/object/legal-hold", { json: { ...target, isOnHold } });

  assert.equal((await retain({ retention: { mode: "governance", until } })).status, 204);
  assert.equal((await hold(true)).status, 204);
  assert.deepEqual((await read()).objectLock, {
    ...{ retention: { mode: "governance", until }, isOnHold: true },
  });
  assert.equal((await hold(false)).status, 204);
  assert.equal((await retain({ retention: null })).status, 403, "a governance retention needs a bypass");
  assert.equal((await retain({ retention: null, bypassGovernance: true })).status, 204);
  assert.deepEqual((await read()).objectLock, { retention: null, isOnHold: false });
  for (const [retention, message] of [
    [{ mode: "forever", until }, /governance or compliance/],
    [{ mode: "compliance" }, /and an end/],
    [{ mode: "compliance", until: Date.now() - day }, /future/],
  ] as const) {
    const { status, text } = await retain({ retention });
    assert.equal(status, 400);
    assert.match(text, message);
  }
  const changes = audited.filter((entry) => /retention|hold/.test(entry));
  assert.deepEqual(
    changes.map((entry) => entry.replace(/ bucket.*/, "")),
    ["change retention", "change legal hold", "change legal hold", "bypass retention"],
  );
});

test("accounts are listed with their usage, and get and lose a quota", async (t) => {
  const { engine, get, ask, refused } = await apiScene(t);
  await engine.createBucket("of-the-shop", { account: "shop" });
  await engine.put("of-the-shop", "a", Buffer.from("12345"));
  const read = async () => (await get<AccountsDocument>("GET /api/accounts")).accounts;
  const set = (json: object) => ask("PUT /api/accounts/quota", { json });
  const shop = { account: "shop", buckets: 1, quota: null, usage: { bytes: 5, objects: 1 } };
  assert.deepEqual((await read()).at(-1), shop);
  assert.equal((await set({ account: "shop", quota: { bytes: 10 } })).status, 204);
  assert.deepEqual((await read()).at(-1), { ...shop, quota: { bytes: 10 } });
  await assert.rejects(engine.put("of-the-shop", "b", Buffer.alloc(6)), { reason: "QuotaExceeded" });
  assert.equal((await set({ account: "shop", quota: null })).status, 204);
  assert.deepEqual((await read()).at(-1), shop);
  const wrong = { json: { account: "shop", quota: { bytes: -1 } } };
  assert.match(await refused(400, "PUT /api/accounts/quota", wrong), /whole numbers/);
  const unknown = { json: { account: "nowhere", quota: { bytes: 1 } } };
  assert.match(await refused(404, "PUT /api/accounts/quota", unknown), /No bucket belongs/);
});
