// Publication, policy, encryption, notifications and access of a bucket in the console's API.
import assert from "node:assert/strict";
import { test } from "node:test";
import type {
  AccessDocument,
  BucketDetailsDocument,
  NewNotificationDocument,
  NotificationsDocument,
} from "../../../../src/console/wire-bucket.ts";
import type { ChangedDocument, SettingsDocument } from "../../../../src/console/wire-settings.ts";
import type { BucketsDocument, ObjectDocument } from "../../../../src/console/wire-types.ts";
import { openReceiver } from "../../../events/receiver.ts";
import { type ApiScene, apiScene } from "../scene.ts";

const query = { bucket: "bucket" };

async function change({ get }: ApiScene, kind: keyof SettingsDocument["seen"], json: object): Promise<void> {
  const { seen } = await get<SettingsDocument>("GET /api/settings", { query });
  const changed = await get<ChangedDocument>("PUT /api/settings", {
    query: { ...query, kind },
    json: { ...json, seen: seen[kind] },
  });
  const now = await get<SettingsDocument>("GET /api/settings", { query });
  assert.equal(now.seen[kind], changed.seen);
}

test("a published bucket is shown as public, audited, and has public URLs until it is private", async (t) => {
  const scene = await apiScene(t);
  await scene.engine.put("bucket", "a b/ü.txt", Buffer.from("a"));
  const publication = { index: "index.html", notFound: "", domains: ["Photos.Example.com", ""] };
  await change(scene, "publication", { publication });
  const details = await scene.get<BucketDetailsDocument>("GET /api/bucket", { query });
  assert.deepEqual(details.publication, {
    url: "http://127.0.0.1:9002/bucket/",
    domains: ["photos.example.com"],
  });
  const { buckets } = await scene.get<BucketsDocument>("GET /api/buckets");
  assert.equal(buckets[0]!.isPublic, true);
  const object = () =>
    scene.get<ObjectDocument>("GET /api/object", { query: { ...query, key: "a b/ü.txt" } });
  assert.equal((await object()).publicUrl, "http://127.0.0.1:9002/bucket/a%20b/%C3%BC.txt");
  await change(scene, "publication", { publication: null });
  assert.equal((await object()).publicUrl, null);
  assert.deepEqual(scene.audited, ["change publication bucket", "change publication bucket"]);
});

test("wrong publications, and a domain of another bucket, are refused with the reason", async (t) => {
  const scene = await apiScene(t);
  await scene.engine.createBucket("other");
  await change(scene, "publication", { publication: { domains: ["a.example.com"] } });
  const put = async (publication: object) => {
    const { seen } = await scene.get<SettingsDocument>("GET /api/settings", { query: { bucket: "other" } });
    const json = { publication, seen: seen.publication };
    return scene.refused(400, "PUT /api/settings", { query: { bucket: "other", kind: "publication" }, json });
  };
  assert.match(await put({ domains: ["a.example.com"] }), /already belongs to bucket "bucket"/);
  assert.match(await put({ domains: ["no host"] }), /is not a host name/);
  assert.match(await put({ index: "a/b" }), /without "\/"/);
  const stale = { publication: null, seen: "stale" };
  await scene.refused(409, "PUT /api/settings", { query: { ...query, kind: "publication" }, json: stale });
});

test("only an administrator of the store adds domains; one of the bucket changes the rest", async (t) => {
  const scene = await apiScene(t);
  const own = await scene.signIn({ buckets: { bucket: "administrator" } });
  const put = async (publication: object | null) => {
    const { seen } = await scene.get<SettingsDocument>("GET /api/settings", { query });
    const json = { publication, seen: seen.publication };
    return own.ask("PUT /api/settings", { query: { ...query, kind: "publication" }, json });
  };
  const domains = async () => (await scene.engine.bucket("bucket"))!.settings.publication?.domains;
  assert.equal((await put({})).status, 200);
  const refused = await put({ domains: ["a.example.com"] });
  assert.equal(refused.status, 403);
  assert.match(refused.text, /needs administrator for the whole store/);
  assert.equal(await domains(), undefined);
  await change(scene, "publication", { publication: { domains: ["a.example.com", "b.example.com"] } });
  assert.equal((await put({ index: "i.html", domains: ["a.example.com", "b.example.com"] })).status, 200);
  assert.equal((await put({ domains: ["b.example.com"] })).status, 200);
  assert.equal((await put({ domains: ["a.example.com", "b.example.com"] })).status, 403);
  assert.deepEqual(await domains(), ["b.example.com"]);
  assert.equal((await put(null)).status, 200);
});

test("names of the server, and names below its base domains, are no domains of a bucket", async (t) => {
  const scene = await apiScene(t);
  const { seen } = await scene.get<SettingsDocument>("GET /api/settings", { query });
  for (const domain of [
    ...["localhost", "other.localhost", "a.b.localhost", "console.example.net"],
    ...["public.example.net", "other.public.example.net", "1.2.3.4", "0x7f.1", "127.1", "a.0x7f"],
  ]) {
    const json = { publication: { domains: [domain] }, seen: seen.publication };
    const question = { query: { ...query, kind: "publication" }, json };
    assert.match(await scene.refused(400, "PUT /api/settings", question), /is a name of|is not a host/);
  }
  const many = { domains: Array.from({ length: 101 }, (_, i) => `a${i}.example.com`) };
  const json = { publication: many, seen: seen.publication };
  await scene.refused(400, "PUT /api/settings", { query: { ...query, kind: "publication" }, json });
});

test("a policy is checked by its own parser, and its statements are listed under access", async (t) => {
  const scene = await apiScene(t);
  const statement = {
    ...{ Sid: "Read", Effect: "Allow", Principal: "*", Action: "s3:GetObject" },
    Resource: "arn:aws:s3:::bucket/*",
  };
  await change(scene, "policy", {
    policy: JSON.stringify({ Version: "2012-10-17", Statement: [statement] }),
  });
  const access = await scene.get<AccessDocument>("GET /api/bucket/access", { query });
  assert.equal(access.isPolicyPublic, true);
  assert.deepEqual(access.statements[0]?.principals, ["everyone"]);
  const { seen } = await scene.get<SettingsDocument>("GET /api/settings", { query });
  const wrong = await scene.refused(400, "PUT /api/settings", {
    query: { ...query, kind: "policy" },
    json: { policy: "{", seen: seen.policy },
  });
  assert.notEqual(wrong, "");
  await change(scene, "policy", { policy: "" });
  const block = {
    blockPublicAcls: false,
    ignorePublicAcls: false,
    blockPublicPolicy: true,
    restrictPublicBuckets: false,
  };
  await change(scene, "publicAccessBlock", { publicAccessBlock: block });
  const current = await scene.get<SettingsDocument>("GET /api/settings", { query });
  await scene.refused(409, "PUT /api/settings", {
    query: { ...query, kind: "policy" },
    json: { policy: JSON.stringify({ Statement: [statement] }), seen: current.seen.policy },
  });
});

test("default encryption is turned on and off, and each change is audited", async (t) => {
  const scene = await apiScene(t);
  await change(scene, "encryption", { isOn: true });
  assert.equal((await scene.get<BucketDetailsDocument>("GET /api/bucket", { query })).isEncrypted, true);
  await change(scene, "encryption", { isOn: false });
  assert.deepEqual(scene.audited, ["change encryption bucket", "change encryption bucket"]);
});

test("notification rules are added, listed without their secret, and removed", async (t) => {
  const scene = await apiScene(t);
  const target = { kind: "webhook", name: "https://example.com/hook" };
  const rule = { bucket: "bucket", id: "hook", events: ["s3:ObjectCreated:*"], suffix: ".jpg", target };
  const made = await scene.get<NewNotificationDocument>("POST /api/notifications", { json: rule });
  assert.match(made.secret!, /^whsec_/);
  const answer = await scene.ask("GET /api/notifications", { query });
  assert.ok(!answer.text.includes("whsec_"));
  const { rules } = JSON.parse(answer.text) as NotificationsDocument;
  assert.deepEqual([rules[0]?.id, rules[0]?.suffix, rules[0]?.target], ["hook", ".jpg", target]);
  const wrong = { ...rule, id: "other", target: { kind: "webhook", name: "ftp://example.com" } };
  assert.match(await scene.refused(400, "POST /api/notifications", { json: wrong }), /not a webhook URL/);
  await scene.refused(400, "POST /api/notifications", { json: { ...rule, target: {} } });
  const unbound = { ...rule, id: "script", target: { kind: "script", name: "app" } };
  const refusal = await scene.refused(400, "POST /api/notifications", { json: unbound });
  assert.match(refusal, /no script "app" that is bound to the bucket "bucket"; nothing was changed/);
  await scene.get("DELETE /api/notifications", { query: { ...query, id: "hook" } });
  await scene.refused(404, "DELETE /api/notifications", { query: { ...query, id: "hook" } });
  assert.deepEqual(scene.audited, ["change notifications bucket", "change notifications bucket"]);
});

test("webhooks to private hosts are refused, and only administrators of the store see why a test failed", async (t) => {
  const scene = await apiScene(t, { webhookAllow: ["127.0.0.1"] });
  const owner = await scene.signIn({ buckets: { bucket: "administrator" } });
  const rule = (name: string) => ({ bucket: "bucket", id: "hook", target: { kind: "webhook", name } });
  for (const host of ["10.0.0.5", "169.254.169.254", "0.0.0.0", "0", "2130706434", "0x7f.2", "[::1]"]) {
    const message = await owner.refused(400, "POST /api/notifications", { json: rule(`http://${host}/`) });
    assert.match(message, /is not public/, host);
  }
  const receiver = await openReceiver(t);
  receiver.answer = () => 404;
  await owner.get("POST /api/notifications", { json: rule(receiver.url) });
  const test = { json: { bucket: "bucket", id: "hook" } };
  const brief = await owner.refused(409, "POST /api/notifications/test", test);
  assert.equal(brief, "The webhook did not accept the test message.");
  assert.match(await scene.refused(409, "POST /api/notifications/test", test), /with status 404\.$/);
  const state = { delivered: 0, dropped: 0, lastFailure: { time: 1, what: "it refused the connection" } };
  await scene.documents.put("delivery progress", "bucket/hook", JSON.stringify(state), undefined);
  const shown = (text: string) => (JSON.parse(text) as NotificationsDocument).rules[0]!.lastFailure!.what;
  assert.equal(shown((await owner.ask("GET /api/notifications", { query })).text), "not accepted");
  assert.match(shown((await scene.ask("GET /api/notifications", { query })).text), /refused the connection/);
});

test("access lists keys and users only for administrators of the store", async (t) => {
  const scene = await apiScene(t);
  const viewer = await scene.signIn({ buckets: { bucket: "administrator" } });
  const limited = await viewer.get<AccessDocument>("GET /api/bucket/access", { query });
  assert.deepEqual([limited.keys, limited.users], [null, null]);
  const full = await scene.get<AccessDocument>("GET /api/bucket/access", { query });
  assert.deepEqual(full.users, [{ kind: "token", name: "test", role: "administrator" }]);
});
