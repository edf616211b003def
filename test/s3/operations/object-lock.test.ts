// Object Lock over S3: configuration, retention, legal holds and the right to bypass.
import assert from "node:assert/strict";
import { test } from "node:test";
import { boundary, encodeForm, signedFields } from "../form.ts";
import { assertRefused, bucket, texts, type VersionedScene, versionedScene, withMd5 } from "../versioned.ts";

const day = 24 * 3600 * 1000;
const bypass = { "x-amz-bypass-governance-retention": "true" };
const inDays = (days: number) => new Date(Date.now() + days * day).toISOString();

const configuration = (rule: string) =>
  `<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled>${rule}</ObjectLockConfiguration>`;
const defaultRule = (inner: string) => `<Rule><DefaultRetention>${inner}</DefaultRetention></Rule>`;

const retention = (mode: string, until: string) =>
  `<Retention><Mode>${mode}</Mode><RetainUntilDate>${until}</RetainUntilDate></Retention>`;

function retain({ request }: VersionedScene, document: string, headers: Record<string, string> = {}) {
  return request("PUT", "a", { query: "retention", ...withMd5(document, headers) });
}

test("the Object Lock configuration is stored as given and refused if it is not valid", async (t) => {
  const { request } = await versionedScene(t, "locked");
  const put = (body: string) => request("PUT", "", { query: "object-lock", ...withMd5(body) });
  const get = async () => (await request("GET", "", { query: "object-lock" })).text;
  assert.match(
    await get(),
    />\s*<ObjectLockEnabled>Enabled<\/ObjectLockEnabled><\/ObjectLockConfiguration>$/,
  );
  for (const rule of ["<Mode>GOVERNANCE</Mode><Days>3</Days>", "<Mode>COMPLIANCE</Mode><Years>2</Years>"]) {
    assert.equal((await put(configuration(defaultRule(rule)))).status, 200);
    assert.ok((await get()).includes(defaultRule(rule)), rule);
  }
  for (const [document, code] of [
    [configuration(defaultRule("<Mode>GOVERNANCE</Mode><Days>0</Days>")), "InvalidRetentionPeriod"],
    [configuration(defaultRule("<Mode>GOVERNANCE</Mode><Years>-1</Years>")), "InvalidRetentionPeriod"],
    [configuration(defaultRule("<Mode>GOVERNANCE</Mode><Days>36501</Days>")), "InvalidRetentionPeriod"],
    [configuration(defaultRule("<Mode>GOVERNANCE</Mode><Days>1</Days><Years>1</Years>")), "MalformedXML"],
    [configuration(defaultRule("<Mode>GOVERNANCE</Mode>")), "MalformedXML"],
    [configuration(defaultRule("<Mode>governance</Mode><Days>1</Days>")), "MalformedXML"],
    [configuration("<Rule/>"), "MalformedXML"],
    [configuration("").replace(">Enabled<", ">Disabled<"), "MalformedXML"],
  ] as const) {
    assertRefused(await put(document), [400, code]);
  }
  const unsummed = await request("PUT", "", { query: "object-lock", body: configuration("") });
  assertRefused(unsummed, [400, "InvalidRequest"]);
  assert.match(await get(), /<Years>2</);
  const suspend = "<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>";
  assertRefused(await request("PUT", "", { query: "versioning", body: suspend }), [
    409,
    "InvalidBucketState",
  ]);
});

test("Object Lock can be enabled only with versioning on, and locks are refused without it", async (t) => {
  const scene = await versionedScene(t, "plain");
  const { request, put, setVersioning } = scene;
  await put("a", "one");
  const enable = () => request("PUT", "", { query: "object-lock", ...withMd5(configuration("")) });
  assertRefused(await enable(), [409, "InvalidBucketState"]);
  await setVersioning("Suspended");
  assertRefused(await enable(), [409, "InvalidBucketState"]);
  await setVersioning("Enabled");
  assertRefused(await request("GET", "", { query: "object-lock" }), [
    404,
    "ObjectLockConfigurationNotFoundError",
  ]);
  for (const query of ["retention", "legal-hold"])
    assertRefused(await request("GET", "a", { query }), [400, "InvalidRequest"]);
  assertRefused(await retain(scene, retention("GOVERNANCE", inDays(1))), [400, "InvalidRequest"]);
  const hold = withMd5("<LegalHold><Status>ON</Status></LegalHold>");
  assertRefused(await request("PUT", "a", { query: "legal-hold", ...hold }), [400, "InvalidRequest"]);
  const odd = withMd5("<LegalHold><Status>odd</Status></LegalHold>");
  assertRefused(await request("PUT", "a", { query: "legal-hold", ...odd }), [400, "MalformedXML"]);
  assertRefused(await retain(scene, retention("odd", inDays(1))), [400, "MalformedXML"]);
  const headers = { "x-amz-object-lock-legal-hold": "ON" };
  assertRefused(await request("PUT", "b", withMd5("x", headers)), [400, "InvalidRequest"]);
  assert.equal((await enable()).status, 200);
  assert.equal((await request("PUT", "b", withMd5("x", headers))).status, 200);
});

test("a governance retention keeps a version until it is bypassed by a key with the admin right", async (t) => {
  const scene = await versionedScene(t, "locked");
  const { request, put, grant } = scene;
  const version = await put("a", "one");
  const query = `versionId=${version}`;
  assertRefused(await request("GET", "a", { query: "retention" }), [404, "NoSuchObjectLockConfiguration"]);
  const noDay = retention("GOVERNANCE", "2026-11-31T00:00:00Z");
  assertRefused(await retain(scene, noDay), [400, "MalformedXML"]);
  const until = inDays(2);
  assert.equal((await retain(scene, retention("GOVERNANCE", until))).status, 200);
  const read = await request("GET", "a", { query: `retention&${query}` });
  assert.deepEqual(
    [texts(read.text, "Mode"), texts(read.text, "RetainUntilDate")],
    [["GOVERNANCE"], [until]],
  );
  const head = await request("HEAD", "a");
  assert.equal(head.headers["x-amz-object-lock-mode"], "GOVERNANCE");
  assert.equal(head.headers["x-amz-object-lock-retain-until-date"], until);

  const refused = await request("DELETE", "a", { query });
  assertRefused(refused, [403, "AccessDenied"]);
  assert.match(refused.text, new RegExp(`governance retention until ${until}`));
  for (const shorter of [
    retention("GOVERNANCE", inDays(1)),
    retention("COMPLIANCE", inDays(9)),
    "<Retention/>",
  ])
    assertRefused(await retain(scene, shorter), [403, "AccessDenied"]);
  assert.equal((await retain(scene, retention("GOVERNANCE", inDays(3)))).status, 200);
  const writer = await grant(["read", "write", "list"]);
  assertRefused(await request("DELETE", "a", { query, headers: bypass, key: writer }), [403, "AccessDenied"]);
  const element = `<Delete><Object><Key>a</Key><VersionId>${version}</VersionId></Object></Delete>`;
  const many = { query: "delete", body: element };
  assert.deepEqual(texts((await request("POST", "", many)).text, "Code"), ["AccessDenied"]);
  assertRefused(await request("POST", "", { ...many, headers: bypass, key: writer }), [403, "AccessDenied"]);
  assert.equal((await retain(scene, retention("GOVERNANCE", inDays(1)), bypass)).status, 200);
  assert.equal((await request("DELETE", "a", { query, headers: bypass })).status, 204);
  assertRefused(await request("GET", "a", { query }), [404, "NoSuchVersion"]);
});

test("a compliance retention can be made longer, but not shorter or bypassed", async (t) => {
  const scene = await versionedScene(t, "locked");
  const { request, put } = scene;
  const version = await put("a", "one");
  assert.equal((await retain(scene, retention("COMPLIANCE", inDays(2)))).status, 200);
  assert.equal((await retain(scene, retention("COMPLIANCE", inDays(3)))).status, 200);
  for (const document of [
    retention("COMPLIANCE", inDays(1)),
    retention("GOVERNANCE", inDays(9)),
    "<Retention/>",
  ]) {
    assertRefused(await retain(scene, document, bypass), [403, "AccessDenied"]);
  }
  const removed = await request("DELETE", "a", { query: `versionId=${version}`, headers: bypass });
  assertRefused(removed, [403, "AccessDenied"]);
  assert.equal((await request("DELETE", "a")).status, 204);
  assert.equal((await request("GET", "a", { query: `versionId=${version}` })).text, "one");
});

test("an invalid retention is refused", async (t) => {
  const scene = await versionedScene(t, "locked");
  await scene.put("a", "one");
  for (const [document, code] of [
    [retention("governance", inDays(1)), "MalformedXML"],
    [retention("GOVERNANCE", "soon"), "MalformedXML"],
    ["<Retention><Mode>GOVERNANCE</Mode></Retention>", "MalformedXML"],
    [retention("GOVERNANCE", inDays(-1)), "InvalidArgument"],
  ] as const) {
    assertRefused(await retain(scene, document), [400, code]);
  }
  const unsummed = { query: "retention", body: retention("GOVERNANCE", inDays(1)) };
  assertRefused(await scene.request("PUT", "a", unsummed), [400, "InvalidRequest"]);
});

test("a legal hold keeps a version until a key with the admin right releases it", async (t) => {
  const { request, put, grant } = await versionedScene(t, "locked");
  const version = await put("a", "one");
  const hold = (status: string, more = {}) =>
    request("PUT", "a", {
      query: "legal-hold",
      ...withMd5(`<LegalHold><Status>${status}</Status></LegalHold>`),
      ...more,
    });
  const state = async () => texts((await request("GET", "a", { query: "legal-hold" })).text, "Status");
  assert.deepEqual(await state(), ["OFF"]);
  const writer = await grant(["read", "write", "list"]);
  assert.equal((await hold("ON", { key: writer })).status, 200);
  assert.deepEqual(await state(), ["ON"]);
  assert.equal((await request("HEAD", "a")).headers["x-amz-object-lock-legal-hold"], "ON");
  const refused = await request("DELETE", "a", { query: `versionId=${version}`, headers: bypass });
  assertRefused(refused, [403, "AccessDenied"]);
  assert.match(refused.text, /legal hold/);
  assertRefused(await hold("OFF", { key: writer }), [403, "AccessDenied"]);
  assertRefused(await hold("off"), [400, "MalformedXML"]);
  assert.equal((await hold("OFF")).status, 200);
  assert.deepEqual(await state(), ["OFF"]);
  for (const method of ["HEAD", "GET"]) {
    const { headers } = await request(method, "a");
    assert.equal(headers["x-amz-object-lock-legal-hold"], "OFF", `${method} after the release`);
  }
  assert.equal((await request("DELETE", "a", { query: `versionId=${version}` })).status, 204);
});

test("puts, copies, uploads and forms can set a lock, and get the default retention otherwise", async (t) => {
  const { request, put, engine, send, key } = await versionedScene(t, "locked");
  const until = inDays(5);
  const locks = {
    "x-amz-object-lock-mode": "COMPLIANCE",
    "x-amz-object-lock-retain-until-date": until,
    "x-amz-object-lock-legal-hold": "ON",
  };
  const lockOf = async (path: string) => {
    const { headers } = await request("HEAD", path);
    return Object.keys(locks).map((name) => headers[name]);
  };
  const expected = Object.values(locks);
  assert.equal((await request("PUT", "a", withMd5("x", locks))).status, 200);
  assert.deepEqual(await lockOf("a"), expected);
  assertRefused(await request("PUT", "b", { body: "x", headers: locks }), [400, "InvalidRequest"]);
  const copy = (path: string, headers = {}) =>
    request("PUT", path, { headers: { "x-amz-copy-source": `/${bucket}/a`, ...headers } });
  assert.equal((await copy("copied", locks)).status, 200);
  assert.deepEqual(await lockOf("copied"), expected);
  assert.equal((await copy("unlocked")).status, 200);
  assert.deepEqual(await lockOf("unlocked"), [undefined, undefined, undefined]);
  const created = await request("POST", "m", { query: "uploads", headers: locks });
  const [upload] = texts(created.text, "UploadId");
  const part = await request("PUT", "m", { query: `partNumber=1&uploadId=${upload}`, body: "part" });
  const body = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${part.headers.etag}</ETag></Part></CompleteMultipartUpload>`;
  assert.equal((await request("POST", "m", { query: `uploadId=${upload}`, body })).status, 200);
  assert.deepEqual(await lockOf("m"), expected);
  const conditions = [
    ["starts-with", "$key", ""],
    { "x-amz-meta-tag": "one" },
    ...Object.entries(locks).map(([name, value]) => ({ [name]: value })),
  ];
  const fields = [...signedFields({ key, bucket, conditions }), ...Object.entries(locks)];
  const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
  const form = { method: "POST", path: `/${bucket}`, headers, body: Buffer.from(encodeForm(fields)) };
  const posted = await send(form);
  assert.equal(posted.status, 204, posted.text);
  assert.match(posted.headers["x-amz-version-id"] ?? "", /^[0-9a-f]{32}$/);
  assert.deepEqual(await lockOf("form/upload"), expected);

  const off = await request("PUT", "off", { body: "x", headers: { "x-amz-object-lock-legal-hold": "OFF" } });
  assert.equal(off.status, 200, off.text);
  assert.deepEqual(await lockOf("off"), [undefined, undefined, "OFF"]);

  await engine.changeSettings(bucket, { objectLock: { defaultRetention: { mode: "governance", days: 1 } } });
  await put("default", "x");
  const [mode, end] = await lockOf("default");
  assert.equal(mode, "GOVERNANCE");
  assert.ok(Math.abs(Date.parse(end!) - Date.now() - day) < 60_000, end);
  for (const headers of [
    { "x-amz-object-lock-mode": "GOVERNANCE" },
    { "x-amz-object-lock-retain-until-date": until },
    { ...locks, "x-amz-object-lock-mode": "odd" },
    { ...locks, "x-amz-object-lock-retain-until-date": "soon" },
    { ...locks, "x-amz-object-lock-retain-until-date": inDays(-1) },
    { ...locks, "x-amz-object-lock-legal-hold": "on" },
  ]) {
    assertRefused(await request("PUT", "c", withMd5("x", headers)), [400, "InvalidArgument"]);
  }
});

test("a lock rule of the bucket keeps objects without versions, and DeleteObjects reports each of them", async (t) => {
  const { request, put, engine } = await versionedScene(t, "plain");
  for (const key of ["kept/a", "free/a"]) await put(key, "one");
  const rule = {
    id: "archive",
    isEnabled: true,
    prefix: "kept/",
    condition: { kind: "indefinite" },
  } as const;
  await engine.changeSettings(bucket, { lockRules: [rule] });
  assertRefused(await request("DELETE", "kept/a"), [403, "AccessDenied"]);
  assertRefused(await request("PUT", "kept/a", { body: "two" }), [403, "AccessDenied"]);
  const objects = ["kept/a", "free/a"].map((key) => `<Object><Key>${key}</Key></Object>`).join("");
  const { status, text } = await request("POST", "", {
    query: "delete",
    body: `<Delete>${objects}</Delete>`,
  });
  assert.equal(status, 200, text);
  assert.match(text, /<Error><Key>kept\/a<\/Key><Code>AccessDenied<\/Code><Message>[^<]*archive/);
  assert.match(text, /<Deleted><Key>free\/a<\/Key><\/Deleted>/);
  assert.equal((await request("GET", "kept/a")).text, "one");
  assertRefused(await request("GET", "free/a"), [404, "NoSuchKey"]);
});
