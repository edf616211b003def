// The console's API for the settings and rules of a bucket.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChangedDocument, RulesDocument, SettingsDocument } from "../../../src/console/wire-settings.ts";
import { type ApiScene, apiScene } from "./scene.ts";

const bucket = "bucket";
const settingsOf = ({ get }: ApiScene) => get<SettingsDocument>("GET /api/settings", { query: { bucket } });
const rulesOf = ({ get }: ApiScene) => get<RulesDocument>("GET /api/rules", { query: { bucket } });
const stored = async ({ engine }: ApiScene) => (await engine.bucket(bucket))!.settings;

test("versioning can be turned on and suspended in the console, but not off again", async (t) => {
  const scene = await apiScene(t);
  const query = { bucket, kind: "versioning" };
  const { versioning, seen } = await settingsOf(scene);
  assert.equal(versioning, "off");
  const on = { versioning: "on", seen: seen.versioning };
  const changed = await scene.get<ChangedDocument>("PUT /api/settings", { query, json: on });
  assert.equal((await stored(scene)).versioning, "on");
  const current = await settingsOf(scene);
  assert.deepEqual([current.versioning, current.seen.versioning], ["on", changed.seen]);
  const suspended = { versioning: "suspended", seen: changed.seen };
  await scene.get("PUT /api/settings", { query, json: suspended });
  for (const wrong of ["off", "", 1, null]) {
    await scene.refused(400, "PUT /api/settings", { query, json: { ...suspended, versioning: wrong } });
  }
  assert.equal((await stored(scene)).versioning, "suspended");
  assert.deepEqual(scene.audited, ["change versioning bucket", "change versioning bucket"]);
});

test("a setting that was changed after the page has loaded it is not overwritten", async (t) => {
  const scene = await apiScene(t);
  const { seen } = await settingsOf(scene);
  await scene.engine.changeSettings(bucket, { tags: [["team", "blue"]], cors: [], versioning: "on" });
  const tags = { query: { bucket, kind: "tags" }, json: { tags: [["team", "red"]], seen: seen.tags } };
  assert.match(await scene.refused(409, "PUT /api/settings", tags), /changed meanwhile; nothing was saved/);
  assert.deepEqual((await stored(scene)).tags, [["team", "blue"]]);
  const rules = await rulesOf(scene);
  await scene.engine.changeSettings(bucket, { lifecycle: [] });
  const lifecycle = { query: { bucket, kind: "lifecycle" }, json: { rules: [], seen: rules.seen.lifecycle } };
  await scene.refused(409, "PUT /api/rules", lifecycle);
  const missing = { query: { bucket, kind: "lifecycle" }, json: { rules: [] } };
  assert.equal(await scene.refused(400, "PUT /api/rules", missing), '"seen" must be a string.');
  assert.deepEqual(scene.audited, []);
});

test("Object Lock turns versioning on, and gets a default retention", async (t) => {
  const scene = await apiScene(t);
  const query = { bucket, kind: "objectLock" };
  const { seen } = await settingsOf(scene);
  const retention = { mode: "governance", days: 30 };
  const json = { defaultRetention: retention, seen: seen.objectLock };
  for (const wrong of [{ mode: "soft", days: 1 }, { mode: "governance", days: 0 }, { days: 1 }, "30", []]) {
    await scene.refused(400, "PUT /api/settings", { query, json: { ...json, defaultRetention: wrong } });
  }
  await scene.get("PUT /api/settings", { query, json });
  const { versioning, objectLock } = await settingsOf(scene);
  assert.deepEqual([versioning, objectLock], ["on", { isEnabled: true, defaultRetention: retention }]);
  const suspend = {
    query: { bucket, kind: "versioning" },
    json: { versioning: "suspended", seen: (await settingsOf(scene)).seen.versioning },
  };
  assert.match(await scene.refused(409, "PUT /api/settings", suspend), /Object Lock needs versioning/);
});

test("a quota is shown with its usage, changed and removed in the console", async (t) => {
  const scene = await apiScene(t);
  const query = { bucket, kind: "quota" };
  const first = await settingsOf(scene);
  assert.deepEqual([first.quota, first.usage], [null, null]);
  const json = { quota: { bytes: 1000, objects: 10 }, seen: first.seen.quota };
  for (const wrong of [{}, { bytes: -1 }, { bytes: "10" }, { objects: 1.5 }, { files: 1 }, []]) {
    await scene.refused(400, "PUT /api/settings", { query, json: { ...json, quota: wrong } });
  }
  await scene.get("PUT /api/settings", { query, json });
  await scene.engine.put(bucket, "key", Buffer.alloc(100));
  const { quota, usage, seen } = await settingsOf(scene);
  assert.deepEqual(quota, { bytes: 1000, objects: 10 });
  assert.deepEqual(usage, await scene.engine.quotas.bucketUsage(bucket));
  await scene.get("PUT /api/settings", { query, json: { quota: null, seen: seen.quota } });
  assert.equal((await stored(scene)).quota, undefined);
  assert.deepEqual(scene.audited, ["change quota bucket", "change quota bucket"]);
});

test("tags of a bucket are checked before they are saved", async (t) => {
  const scene = await apiScene(t);
  const query = { bucket, kind: "tags" };
  const seen = (await settingsOf(scene)).seen.tags;
  const wrong = [
    [["a", 1]],
    [["a"]],
    "a",
    [["", "b"]],
    [
      ["a", "1"],
      ["a", "2"],
    ],
    [["aws:a", "b"]],
  ];
  for (const tags of wrong) await scene.refused(400, "PUT /api/settings", { query, json: { tags, seen } });
  const tags = [["team", "blue"]];
  const changed = await scene.get<ChangedDocument>("PUT /api/settings", { query, json: { tags, seen } });
  assert.deepEqual((await settingsOf(scene)).tags, tags);
  await scene.get("PUT /api/settings", { query, json: { tags: [], seen: changed.seen } });
  assert.equal((await stored(scene)).tags, undefined);
  await scene.refused(400, "PUT /api/settings", { query: { bucket, kind: "other" }, json: { seen } });
  await scene.refused(404, "GET /api/settings", { query: { bucket: "missing" } });
});

test("lock rules by days, by date and without an end are saved", async (t) => {
  const scene = await apiScene(t);
  const query = { bucket, kind: "locks" };
  const { seen } = await rulesOf(scene);
  const date = Date.UTC(2030, 0, 1);
  const rules = [
    { id: "a", isEnabled: true, prefix: "x/", condition: { kind: "age", seconds: 86_400 } },
    { id: "b", isEnabled: false, prefix: "", condition: { kind: "date", date } },
    { id: "c", isEnabled: true, prefix: "", condition: { kind: "indefinite" } },
  ];
  const { flaws } = await scene.get<{ flaws: { rule: number; field: string }[] }>("POST /api/rules/check", {
    query,
    json: {
      rules: [
        { ...rules[0], condition: { kind: "age", seconds: null } },
        { ...rules[1], id: "a" },
        { ...rules[2], condition: { kind: "date" } },
        { ...rules[2], id: "d", condition: 7 },
      ],
    },
  });
  assert.deepEqual(
    flaws.map(({ rule, field }) => `${rule} ${field}`),
    ["0 condition", "1 id", "2 condition", "3 condition"],
  );
  await scene.get("PUT /api/rules", { query, json: { rules, seen: seen.locks } });
  const saved = await rulesOf(scene);
  assert.deepEqual(saved.locks, rules);
  await scene.get("PUT /api/rules", { query, json: { rules: [], seen: saved.seen.locks } });
  assert.equal((await stored(scene)).lockRules, undefined);
  assert.deepEqual(scene.audited, ["change lock rules bucket", "change lock rules bucket"]);
});

test("lifecycle rules for tags, noncurrent versions and delete markers are saved", async (t) => {
  const scene = await apiScene(t);
  const query = { bucket, kind: "lifecycle" };
  const { seen: seenRules, isDefaultLifecycle } = await rulesOf(scene);
  assert.equal(isDefaultLifecycle, true);
  const seen = seenRules.lifecycle;
  const tagged = { id: "a", isEnabled: true, prefix: "", tags: [["kind", "log"]], expire: { days: 3 } };
  const versions = {
    ...{ id: "b", isEnabled: true, prefix: "", expireMarkers: true },
    expireNoncurrent: { days: 30, keep: 5 },
    transitionNoncurrent: { days: 10 },
  };
  const wrong = { rules: [{ ...tagged, tags: [["kind"]] }], seen };
  await scene.refused(400, "PUT /api/rules", { query, json: wrong });
  const early = { rules: [{ ...versions, expireNoncurrent: { days: 5 } }], seen };
  await scene.refused(400, "PUT /api/rules", { query, json: early });
  await scene.get("PUT /api/rules", { query, json: { rules: [tagged, versions], seen } });
  const saved = await rulesOf(scene);
  assert.deepEqual([saved.lifecycle, saved.isDefaultLifecycle], [[tagged, versions], false]);
});

test("transitions that S3 clients named stay as they are while the page changes other fields", async (t) => {
  const scene = await apiScene(t);
  const query = { bucket, kind: "lifecycle" };
  const rule = {
    ...{ id: "a", isEnabled: true, prefix: "", transition: { days: 30 }, transitionNoncurrent: { days: 3 } },
    namedTransitions: [{ days: 30 }, { days: 90, className: "GLACIER" }],
    namedNoncurrent: [{ days: 3, className: "GLACIER" }],
  };
  await scene.engine.changeSettings(bucket, { lifecycle: [rule] });
  const save = async (changes: object) => {
    const { lifecycle, seen } = await rulesOf(scene);
    const rules = [{ ...lifecycle[0], ...changes }];
    await scene.get("PUT /api/rules", { query, json: { rules, seen: seen.lifecycle } });
    return (await stored(scene)).lifecycle?.[0];
  };
  const renamed = await save({ prefix: "logs/" });
  assert.deepEqual(renamed?.namedTransitions?.[1], rule.namedTransitions[1]);
  assert.deepEqual(renamed?.namedNoncurrent, rule.namedNoncurrent);
  const earlier = await save({ transition: { days: 10 } });
  assert.deepEqual([earlier?.transition, earlier?.namedTransitions], [{ days: 10 }, undefined]);
});
