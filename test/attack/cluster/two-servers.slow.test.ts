// Two servers with one database: what one revokes, the other does not go on to allow, also when their
// clocks differ or are set back.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openEngine } from "../../../src/open.ts";
import { until, useCluster } from "../../cluster/scene.ts";
import { directScene } from "../../s3/direct.ts";

const cluster = useCluster();
const day = 24 * 3600 * 1000;
const publicPolicy = JSON.stringify({
  Version: "2012-10-17",
  Statement: [{ Effect: "Allow", Principal: "*", Action: "s3:GetObject", Resource: "arn:aws:s3:::photos/*" }],
});
const read = { method: "GET", path: "/photos/a" };

/** Opens two servers; the clock of each engine differs from the real one by an offset. */
async function twoServers(t: TestContext) {
  const { location } = await cluster.scene(t);
  const open = async () => {
    const clock = { offset: 0 };
    const store = await openEngine(location, {
      now: () => Date.now() + clock.offset,
      secretKey: new Uint8Array(32),
    });
    t.after(() => store.engine.close());
    return { ...(await directScene(t, {}, store)), clock };
  };
  const [one, two] = [await open(), await open()];
  await one.engine.createBucket("photos");
  await one.engine.put("photos", "a", Buffer.from("bytes"));
  return { one, two };
}

test("a key that one server disables or deletes is refused by the other at its next request", async (t) => {
  const { one, two } = await twoServers(t);
  const key = await one.newKey({ grants: [{ bucket: "photos", rights: ["read"] }] });
  const status = async () => (await two.ask(read, { key })).status;
  assert.equal(await status(), 200);
  await one.credentials.disable(key.accessKeyId);
  assert.equal(await status(), 403);
  await one.credentials.enable(key.accessKeyId);
  assert.equal(await status(), 200);
  await one.credentials.delete(key.accessKeyId);
  assert.equal(await status(), 403);
});

test("a grant does not reach a bucket that the other server created again under the same name", async (t) => {
  const { one, two } = await twoServers(t);
  const [{ created, account } = { created: 0, account: "" }] = await one.engine.listBuckets();
  const key = await one.newKey({
    grants: [{ bucket: "photos", rights: ["read", "list"], identity: `${created} ${account}` }],
  });
  assert.equal((await two.ask(read, { key })).status, 200);
  await one.engine.delete("photos", ["a"]);
  await one.engine.deleteBucket("photos");
  await one.engine.createBucket("photos");
  await one.engine.put("photos", "a", Buffer.from("secret"));
  await until(async () => (await two.ask(read, { key })).status === 403, "the other server knows the bucket");
});

test("a policy that one server revokes ends on the other, also while its clock is set back", async (t) => {
  const { one, two } = await twoServers(t);
  await one.engine.changeSettings("photos", { policy: publicPolicy });
  const status = async () => (await two.send({ ...read, headers: { host: "s3.test" } })).status;
  await until(async () => (await status()) === 200, "the policy allows it");
  const realNow = Date.now;
  t.mock.method(Date, "now", () => realNow() - day);
  await one.engine.changeSettings("photos", { policy: undefined });
  const start = performance.now();
  while ((await status()) !== 403) {
    // The age of remembered buckets is a second.
    assert.ok(performance.now() - start < 30_000, "the other server still allows it");
  }
});

test("locks that one server sets hold on another whose clock is behind, and holds also if it is ahead", async (t) => {
  const { one, two } = await twoServers(t);
  const lifecycle = [{ id: "r", isEnabled: true, prefix: "", expireNoncurrent: { days: 1 } }];
  await one.engine.changeSettings("photos", { versioning: "on", objectLock: {}, lifecycle });
  const put = async (lock: object) => {
    const outcome = await one.engine.put("photos", "locked", Buffer.from("locked"), { lock });
    assert.ok(outcome.outcome === "stored");
    return outcome.record.version;
  };
  const retained = await put({ retention: { mode: "compliance", until: Date.now() + day } });
  const held = await put({ legalHold: true });
  await one.engine.delete("photos", ["locked"]);
  const remove = async (version: string) => {
    const targets = [{ key: "locked", version }];
    const [deletion] = await two.engine.deleteVersions("photos", targets, { bypassGovernance: true });
    return deletion!.outcome;
  };
  two.clock.offset = -365 * day;
  await two.engine.sweep();
  for (const version of [retained, held]) assert.equal(await remove(version), "locked");
  two.clock.offset = 10 * 365 * day;
  await two.engine.sweep();
  assert.equal(await remove(held), "locked");
});
