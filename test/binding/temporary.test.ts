// Tests the temporary credentials of a bucket: their grants and the options that are refused.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createTokenVerifier } from "../../src/access/temporary/verify.ts";
import { openStore, type StoreTemporaryCredentialsOptions } from "../../src/index.ts";

const presign = {
  endpoint: "http://s3.test",
  accessKeyId: "STOREABCDEFGHIJKLMNO",
  secretAccessKey: "secret",
};

async function openBucket(t: { after(run: () => Promise<void>): void }, options = {}) {
  const store = await openStore("memory:", options);
  t.after(() => store.close());
  await store.createBucket("photos");
  return store.bucket("photos");
}

test("temporaryCredentials returns credentials limited to the bucket and the given parts", async (t) => {
  const bucket = await openBucket(t, { presign });
  const grantsOf = async (options?: StoreTemporaryCredentialsOptions) => {
    const made = await bucket.temporaryCredentials(options);
    assert.deepEqual([made.endpoint, made.bucket], ["http://s3.test", "photos"]);
    const verifier = createTokenVerifier();
    const verified = verifier.verify(verifier.read(made.sessionToken)!, ["secret"])!;
    assert.equal(verified.secrets[0], made.secretAccessKey);
    assert.equal(verified.content.expires, made.expiration.getTime());
    return verified.content.grants;
  };
  assert.deepEqual(await grantsOf(), [{ bucket: "photos", rights: ["read"] }]);
  assert.deepEqual(await grantsOf({ prefix: "a/", rights: ["read", "append"] }), [
    { bucket: "photos", prefix: "a/", rights: ["read", "append"] },
  ]);
  assert.deepEqual(await grantsOf({ prefixes: ["a/", "b/"], objects: ["c"] }), [
    { bucket: "photos", prefix: "a/", rights: ["read"] },
    { bucket: "photos", prefix: "b/", rights: ["read"] },
    { bucket: "photos", object: "c", rights: ["read"] },
  ]);
});

test("temporaryCredentials refuses options that are wrong or would allow nothing", async (t) => {
  const bucket = await openBucket(t, { presign });
  for (const options of [
    { prefixes: [] },
    { objects: [] },
    { prefix: "a", prefixes: ["b"] },
    { rights: [] },
    { rights: ["everything"] },
    { rights: "read" },
    { objects: "a" },
    { expiresIn: 0 },
    { expiresIn: 604_801 },
    { actions: [1] },
  ]) {
    const given = options as unknown as StoreTemporaryCredentialsOptions;
    await assert.rejects(bucket.temporaryCredentials(given), TypeError, JSON.stringify(options));
  }
  const unbound = await openBucket(t);
  await assert.rejects(unbound.temporaryCredentials(), /no S3 endpoint is configured/);
});
