// Settings of a bucket as documents: get, set and delete, as JSON and XML.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openEngine } from "../../../src/open.ts";
import { temporaryDirectory } from "../../support/stores.ts";
import { runInProcess, storeInProcess } from "../in-process.ts";

async function openBucket(t: TestContext) {
  const directory = await temporaryDirectory(t);
  await storeInProcess(directory, "bucket", "create", "photos");
  const store = (...args: string[]) => storeInProcess(directory, ...args);
  return {
    directory,
    store,
    async write(text: unknown): Promise<string> {
      const content = typeof text === "string" ? text : JSON.stringify(text);
      await writeFile(join(directory, "document"), content);
      return "document";
    },
    async settings() {
      const { engine } = await openEngine(join(directory, ".store"));
      try {
        return (await engine.bucket("photos"))!.settings;
      } finally {
        await engine.close();
      }
    },
  };
}

const lifecycle = {
  Rules: [
    {
      ID: "old",
      Filter: { And: { Prefix: "tmp/", Tags: [{ Key: "a", Value: "b" }], ObjectSizeGreaterThan: 10 } },
      Status: "Enabled",
      Expiration: { Days: 3 },
      Transitions: [{ Days: 1, StorageClass: "STANDARD_IA" }],
      NoncurrentVersionExpiration: { NoncurrentDays: 5, NewerNoncurrentVersions: 2 },
    },
    {
      ID: "uploads",
      Filter: { Prefix: "" },
      Status: "Enabled",
      AbortIncompleteMultipartUpload: { DaysAfterInitiation: 2 },
    },
    {
      ID: "markers",
      Filter: { Prefix: "" },
      Status: "Disabled",
      Expiration: { ExpiredObjectDeleteMarker: true },
    },
  ],
};

const documents: Readonly<Record<string, unknown>> = {
  lifecycle,
  cors: {
    CORSRules: [
      {
        ID: "web",
        AllowedMethods: ["GET", "PUT"],
        AllowedOrigins: ["https://example.com"],
        AllowedHeaders: ["*"],
        ExposeHeaders: ["etag"],
        MaxAgeSeconds: 60,
      },
    ],
  },
  encryption: {
    Rules: [{ ApplyServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" }, BucketKeyEnabled: false }],
  },
  notify: {
    LambdaFunctionConfigurations: [
      {
        Id: "up",
        LambdaFunctionArn: "arn:aws:lambda:::function:photos",
        Events: ["s3:ObjectCreated:*"],
        Filter: { Key: { FilterRules: [{ Name: "suffix", Value: ".jpg" }] } },
      },
    ],
  },
  lock: {
    rules: [
      { id: "month", enabled: true, prefix: "a/", condition: { type: "Age", maxAgeSeconds: 86400 } },
      {
        id: "until",
        enabled: false,
        prefix: "b/",
        condition: { type: "Date", date: "2030-01-01T00:00:00.000Z" },
      },
      { id: "always", enabled: false, prefix: "c/", condition: { type: "Indefinite" } },
    ],
  },
  quota: { bytes: 1000, objects: 5 },
  public: { index: "index.html", domains: ["files.example.com"] },
};

test("get prints the document that set accepts, for every setting, and delete removes it", async (t) => {
  const { directory, store, write } = await openBucket(t);
  // The script of the notification rule.
  const config = [
    'name = "photos"\nmain = "index.js"\ncompatibility_date = "2026-01-01"',
    '[[store_buckets]]\nbinding = "PHOTOS"\nbucket_name = "photos"\n',
  ].join("\n\n");
  await writeFile(join(directory, "index.js"), "export default {};");
  await writeFile(join(directory, "store.toml"), config);
  for (const [name, document] of Object.entries(documents)) {
    assert.equal(await store("bucket", name, "get", "photos", "--json"), "null\n", name);
    await store("bucket", name, "set", "photos", await write(document));
    assert.deepEqual(JSON.parse(await store("bucket", name, "get", "photos")), document, name);
    const { before, after } = JSON.parse(await store("bucket", name, "delete", "photos", "--json")) as {
      before: unknown;
      after: unknown;
    };
    assert.deepEqual([before, after], [document, null], name);
    assert.equal(await store("bucket", name, "get", "photos", "--json"), "null\n", name);
  }
});

test("a rule that names a day that no month has is refused", async (t) => {
  const { directory, write } = await openBucket(t);
  const refuse = async (setting: string, document: unknown) => {
    const command = ["bucket", setting, "set", "photos", await write(document)];
    const { code, stderr } = await runInProcess(command, { directory });
    assert.equal(code, 2, stderr);
    return stderr;
  };
  for (const date of ["2026-11-31", "March 1, 2030", "2030-01-01T00:00:00"]) {
    const condition = { type: "Date", date };
    const rules = { rules: [{ id: "until", enabled: true, prefix: "", condition }] };
    assert.match(await refuse("lock", rules), /Write a date/, date);
  }
  const rule = { ID: "a", Status: "Enabled", Filter: { Prefix: "" }, Expiration: { Date: "2026-11-31" } };
  await refuse("lifecycle", { Rules: [rule] });
});

test("versioning and Object Lock are set as documents and cannot be deleted", async (t) => {
  const { directory, store, write, settings } = await openBucket(t);
  await store("bucket", "versioning", "set", "photos", await write({ Status: "Suspended" }));
  assert.equal((await settings()).versioning, "suspended");
  const lock = { ObjectLockEnabled: "Enabled", Rule: { DefaultRetention: { Mode: "GOVERNANCE", Years: 1 } } };
  await store("bucket", "object-lock", "set", "photos", await write(lock));
  assert.deepEqual(JSON.parse(await store("bucket", "object-lock", "get", "photos")), lock);
  assert.equal((await settings()).versioning, "on", "Object Lock turns versioning on");
  for (const name of ["versioning", "object-lock"]) {
    const { code, stderr } = await runInProcess(["bucket", name, "delete", "photos"], { directory });
    assert.equal(code, 1);
    assert.match(stderr, /cannot be .*; nothing was changed/);
  }
});

test("S3's XML is accepted, and unknown elements are refused", async (t) => {
  const { directory, store, write, settings } = await openBucket(t);
  const rule = (extra: string) =>
    `<?xml version="1.0"?><CORSConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><CORSRule>${extra}<AllowedMethod>GET</AllowedMethod><AllowedOrigin>*</AllowedOrigin></CORSRule></CORSConfiguration>`;
  await store("bucket", "cors", "set", "photos", await write(rule("")));
  assert.deepEqual((await settings()).cors?.[0]?.methods, ["GET"]);
  await write(rule("<MaxAge>3</MaxAge>"));
  const refused = await runInProcess(["bucket", "cors", "set", "photos", "document"], { directory });
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /"MaxAge" is not a field of CORSRule/);
});

test("a bare list of rules and the parameter's name around the document are accepted", async (t) => {
  const { store, write } = await openBucket(t);
  await store("bucket", "lifecycle", "set", "photos", await write(lifecycle.Rules));
  await store("bucket", "lifecycle", "set", "photos", await write({ LifecycleConfiguration: lifecycle }));
  assert.deepEqual(JSON.parse(await store("bucket", "lifecycle", "get", "photos")), lifecycle);
});

test("older forms of the commands work for buckets named like a verb", async (t) => {
  const { store } = await openBucket(t);
  await store("bucket", "create", "get");
  assert.match(await store("bucket", "versioning", "get"), /bucket get is off/);
  assert.match(await store("bucket", "versioning", "get", "on"), /bucket get is on/);
  assert.deepEqual(JSON.parse(await store("bucket", "versioning", "get", "get")), { Status: "Enabled" });
});

test("info and list show a published bucket, and publishing prints and records what it replaces", async (t) => {
  const { directory, store } = await openBucket(t);
  await store("bucket", "public", "photos", "--index", "a.html", "--cache-control", "no-cache");
  assert.match(await store("bucket", "list"), /^photos\t.*\tpublic$/m);
  assert.match(
    await store("bucket", "info", "photos"),
    /^public\tyes: anyone can read it \(index a.html, .*no-cache/m,
  );
  const again = await runInProcess(["bucket", "public", "photos", "--index", "b.html"], { directory });
  assert.match(again.stderr, /index: b\.html \(was a\.html\)\n {2}cache control: removed \(was no-cache\)/);
  const log = await store("audit", "--act", "change publication");
  assert.equal(log.match(/photos .*public/g)?.length, 2);
  assert.deepEqual(
    (JSON.parse(await store("bucket", "info", "photos", "--json")) as { public: unknown }).public,
    {
      index: "b.html",
    },
  );
});
