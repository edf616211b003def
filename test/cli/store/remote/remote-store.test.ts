// A service as a store: every operation gives the same result as the engine behind the service.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ObjectStore } from "../../../../src/cli/store/object-store.ts";
import type { BucketSettings } from "../../../../src/model/bucket.ts";
import { openService } from "./service.ts";

async function readText(store: Pick<ObjectStore, "get">, bucket: string, key: string): Promise<string> {
  const found = await store.get(bucket, key);
  if (found.outcome !== "found") return found.outcome;
  const chunks: Uint8Array[] = [];
  for await (const chunk of found.bytes.chunks()) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const oddKeys = ["a b+c", "ä/ö?x=1&y", "100%", "../up", "a//b", "x<y>&\"'", "\u{1F431}", "tab\tkey"];

test("keys, metadata and tags survive the way through a service and back", async (t) => {
  const { engine, store, bucket } = await openService(t);
  const options = {
    httpMetadata: { contentType: "text/plain", cacheControl: "max-age=60", contentLanguage: "de" },
    customMetadata: new Map([["who", "Zoë"]]),
    tags: new Map([["team", "a b/ä+="]]),
  };
  for (const key of oddKeys) {
    const put = await store.put(bucket, key, Buffer.from(key), options);
    assert.equal(put.outcome, "stored");
    assert.equal(await readText(engine, bucket, key), key);
    assert.equal(await readText(store, bucket, key), key);
    const { customMetadata, httpMetadata, tags } = (await store.head(bucket, key))!;
    assert.deepEqual([...customMetadata], [["who", "Zoë"]]);
    assert.deepEqual(httpMetadata, options.httpMetadata);
    assert.deepEqual([...tags!], [...options.tags]);
  }
  const keys = async (from: Pick<ObjectStore, "list">) =>
    (await from.list(bucket)).objects.map(({ key }) => key);
  assert.deepEqual(await keys(store), await keys(engine));
  await store.delete(bucket, oddKeys);
  assert.deepEqual(await keys(engine), []);
});

test("a listing of a service is the listing of the engine, page by page", async (t) => {
  const { engine, store, bucket } = await openService(t);
  for (const name of ["a/1", "a/2", "b", "c/x/y", "d"]) await engine.put(bucket, name, Buffer.from(name));
  const walk = async (from: Pick<ObjectStore, "list">, delimiter: string) => {
    const found: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await from.list(bucket, { delimiter, limit: 2, cursor });
      found.push([...page.objects.map(({ key, size }) => `${key} ${size}`), ...page.prefixes]);
      cursor = page.cursor;
    } while (cursor !== undefined);
    return found;
  };
  for (const delimiter of ["", "/"])
    assert.deepEqual(await walk(store, delimiter), await walk(engine, delimiter));
});

test("versions, delete markers and reads of an earlier time work through a service", async (t) => {
  const { engine, store, bucket } = await openService(t);
  await store.changeSettings(bucket, { versioning: "on" });
  for (const text of ["one", "two"]) await store.put(bucket, "k", Buffer.from(text));
  await store.delete(bucket, ["k"]);
  const { versions } = await store.listVersions(bucket);
  const expected = (await engine.listVersions(bucket)).versions;
  assert.deepEqual(
    versions.map(({ version, isCurrent }) => [version.version, isCurrent]),
    expected.map(({ version, isCurrent }) => [version.version, isCurrent]),
  );
  assert.equal(await readText(store, bucket, "k"), "missing");
  const [marker, two, one] = versions.map(({ version }) => version.version);
  assert.equal(
    (await store.head(bucket, "k", { version: one }))?.etag,
    (await engine.head(bucket, "k", { version: one }))?.etag,
  );
  assert.equal(await store.head(bucket, "k", { time: Date.now() + 1000 }), undefined);
  const outcomes = await store.deleteVersions(bucket, [{ key: "k", version: marker! }]);
  assert.equal(outcomes[0]?.outcome, "deleted");
  assert.equal((await store.head(bucket, "k"))?.version, two);
  const missing = await store.deleteVersions(bucket, [{ key: "k", version: "0".repeat(32) }]);
  assert.deepEqual(missing, [{ outcome: "missing" }]);
});

test("settings are read as the engine has them, and each can be set and removed", async (t) => {
  const { engine, store, bucket } = await openService(t);
  const policy = JSON.stringify({
    Version: "2012-10-17",
    Statement: [
      { Effect: "Allow", Principal: "*", Action: "s3:GetObject", Resource: `arn:aws:s3:::${bucket}/*` },
    ],
  });
  const changes: BucketSettings = {
    cors: [{ id: "x", methods: ["GET"], origins: ["*"], headers: [], exposed: [], maxAgeSeconds: 5 }],
    lifecycle: [{ id: "r", isEnabled: true, prefix: "tmp/", expire: { days: 3 } }],
    tags: [["team", "web"]],
    encryption: { algorithm: "AES256" },
    policy,
    publicAccessBlock: {
      ...{ blockPublicAcls: true, ignorePublicAcls: false },
      ...{ blockPublicPolicy: false, restrictPublicBuckets: true },
    },
    versioning: "on",
    objectLock: { defaultRetention: { mode: "governance", days: 2 } },
  };
  await store.changeSettings(bucket, changes);
  const stored = (await engine.bucket(bucket))!.settings;
  const read = (await store.bucket(bucket))!.settings;
  assert.deepEqual(JSON.parse(JSON.stringify(read)), JSON.parse(JSON.stringify(stored)));
  assert.equal(read.policy, policy);
  await store.changeSettings(bucket, {
    cors: undefined,
    policy: undefined,
    tags: undefined,
    encryption: undefined,
  });
  const left = (await store.bucket(bucket, ["cors", "policy", "tags", "encryption", "versioning"]))!.settings;
  assert.deepEqual(left, { versioning: "on" });
  await assert.rejects(store.changeSettings(bucket, { quota: { bytes: 1 }, tags: [] }), /S3 has no request/);
});

test("a copy inside a service and a delete depend on the etag that was seen", async (t) => {
  const { engine, store, bucket } = await openService(t);
  await engine.put(bucket, "a b", Buffer.from("one"), { customMetadata: new Map([["m", "1"]]) });
  const seen = (await store.head(bucket, "a b"))!;
  await store.service!.copy({ bucket, key: "a b" }, seen, { bucket, key: "c+d" });
  assert.equal(await readText(engine, bucket, "c+d"), "one");
  assert.equal((await engine.head(bucket, "c+d"))?.customMetadata.get("m"), "1");
  await engine.put(bucket, "a b", Buffer.from("two"));
  await assert.rejects(store.service!.copy({ bucket, key: "a b" }, seen, { bucket, key: "e" }), {
    reason: "PreconditionFailed",
  });
  const condition = { etagMatches: [{ value: seen.etag, weak: false }] };
  await assert.rejects(store.delete(bucket, ["a b"], { condition }), { reason: "PreconditionFailed" });
  assert.equal(await readText(engine, bucket, "a b"), "two");
});
