// A grant is bound to a bucket, not to its name. The permissions of an access key are encrypted
// together with its secret.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseGrant } from "../../../src/access/grants.ts";
import { bindGrants } from "../../../src/access/keys/credential-grants.ts";
import { createCredentials } from "../../../src/access/keys/credentials.ts";
import { seal } from "../../../src/secrets/seal.ts";
import { type DirectScene, directScene, secretKey } from "../../s3/direct.ts";

async function scene(t: Parameters<typeof directScene>[0]) {
  const opened = await directScene(t);
  const { engine, ask, newKey, credentials } = opened;
  await engine.createBucket("photos");
  await engine.put("photos", "a", Buffer.from("content"));
  const granted = async (...texts: string[]) =>
    newKey({
      account: "guest",
      grants: await bindGrants(texts.map(parseGrant), (name) => engine.bucket(name)),
    });
  const read = async (key: Awaited<ReturnType<typeof granted>>) =>
    (await ask({ method: "GET", path: "/photos/a" }, { key })).status;
  const readGrants = async ({ accessKeyId }: { accessKeyId: string }) =>
    (await credentials.find(accessKeyId))?.grants?.map(({ bucket, rights }) => `${bucket}:${rights.join()}`);
  return { ...opened, granted, read, readGrants };
}

async function recreate({ engine }: DirectScene, account: string): Promise<void> {
  await engine.delete("photos", ["a"]);
  await engine.deleteBucket("photos");
  // A bucket's identity contains its creation time, so wait for the next millisecond.
  const before = Date.now();
  while (Date.now() === before);
  await engine.createBucket("photos", { account });
  await engine.put("photos", "a", Buffer.from("other content"));
}

test("a grant on a deleted bucket does not apply to a new bucket of the same name", async (t) => {
  for (const account of ["stranger", "default"]) {
    const opened = await scene(t);
    const key = await opened.granted("photos:read,list");
    assert.equal(await opened.read(key), 200);
    await recreate(opened, account);
    assert.equal(await opened.read(key), 403, account);
    assert.equal((await opened.ask({ method: "GET", path: "/photos" }, { key })).status, 403);
    assert.ok(!(await opened.ask({ method: "GET", path: "/" }, { key })).text.includes("photos"));
    assert.equal(await opened.read(await opened.granted("photos:read")), 200);
  }
});

test("DeleteBucket drops the grants on the bucket and keeps other grants", async (t) => {
  const opened = await scene(t);
  await opened.engine.createBucket("videos");
  const key = await opened.granted("photos:read", "videos:list");
  await opened.engine.delete("photos", ["a"]);
  assert.equal((await opened.ask({ method: "DELETE", path: "/photos" })).status, 204);
  assert.deepEqual(await opened.readGrants(key), ["videos:list"]);
});

test("an access key whose stored record was edited cannot be decrypted", async (t) => {
  const { documents, credentials, newKey, engine, ask } = await scene(t);
  const grants = await bindGrants([parseGrant("photos:read")], (name) => engine.bucket(name));
  const edits: ((stored: Record<string, unknown>) => object)[] = [
    (stored) => ({ ...stored, grants: [{ bucket: "*", rights: ["admin"] }] }),
    ({ grants: _grants, ...stored }) => stored,
    (stored) => ({ ...stored, grants: [{ ...grants[0], rights: ["read", "write"] }] }),
    (stored) => ({ ...stored, account: "default" }),
    ({ expires: _expires, ...stored }) => stored,
    ({ disabled: _disabled, ...stored }) => stored,
    ({ form: _form, ...stored }) => stored,
  ];
  for (const edit of edits) {
    const key = await newKey({ account: "guest", grants, expires: Date.now() + 60_000 });
    await credentials.disable(key.accessKeyId);
    const document = (await documents.get("credential", key.accessKeyId))!;
    const text = JSON.stringify(edit(JSON.parse(document.text) as Record<string, unknown>));
    await documents.put("credential", key.accessKeyId, text, document.revision);
    await assert.rejects(credentials.find(key.accessKeyId), { name: "CredentialError" }, edit.toString());
    assert.equal((await ask({ method: "GET", path: "/photos/a" }, { key })).status, 500);
    await assert.rejects(credentials.rotate(key.accessKeyId), { name: "CredentialError" });
    assert.equal(await credentials.disable(key.accessKeyId), true);
  }
});

test("an access key record copied to another id cannot be decrypted", async (t) => {
  const { documents, credentials, newKey } = await scene(t);
  const [one, two] = [await newKey(), await newKey({ account: "guest" })];
  await credentials.find(one.accessKeyId);
  const { text } = (await documents.get("credential", one.accessKeyId))!;
  const { revision } = (await documents.get("credential", two.accessKeyId))!;
  await documents.put("credential", two.accessKeyId, text, revision);
  await assert.rejects(credentials.find(two.accessKeyId), { name: "CredentialError" });
});

test("access keys of earlier Store versions work, and their grants are bound to the existing buckets", async (t) => {
  const { documents, credentials, engine, readGrants } = await scene(t);
  const accessKeyId = `STORE${"A".repeat(15)}`;
  const old = {
    account: "guest",
    grants: ["photos:read", "missing:read", "*:list"].map(parseGrant),
    created: 1,
    secret: seal(secretKey, ["credential", accessKeyId], "old secret"),
    previous: {
      secret: seal(secretKey, ["credential", accessKeyId], "older secret"),
      until: Date.now() + 60_000,
    },
  };
  await documents.put("credential", accessKeyId, JSON.stringify(old), undefined);
  assert.deepEqual((await credentials.find(accessKeyId))?.secrets, ["old secret", "older secret"]);
  await credentials.bindGrants((name) => engine.bucket(name));
  assert.deepEqual(await readGrants({ accessKeyId }), ["photos:read", "*:list"]);
  const { account, created } = (await engine.bucket("photos"))!;
  const found = await credentials.find(accessKeyId);
  assert.equal(found?.grants?.[0]?.identity, `${created} ${account}`);
  assert.deepEqual(found?.secrets, ["old secret", "older secret"]);
  const written = JSON.parse((await documents.get("credential", accessKeyId))!.text) as { form?: number };
  assert.equal(written.form, 3);
});

test("an access key of an earlier Store version with the right to write may still delete", async (t) => {
  const { documents, credentials } = await scene(t);
  const accessKeyId = `STORE${"B".repeat(15)}`;
  const covered = ["guest", [["photos", ["write"], "1 guest"]], 1, null, false];
  const old = {
    account: "guest",
    grants: [{ bucket: "photos", rights: ["write"], identity: "1 guest" }],
    created: 1,
    form: 2,
    secret: seal(secretKey, ["credential", accessKeyId, JSON.stringify(covered)], "old secret"),
  };
  await documents.put("credential", accessKeyId, JSON.stringify(old), undefined);
  for (const change of [async () => {}, () => credentials.disable(accessKeyId)]) {
    await change();
    const found = await credentials.find(accessKeyId);
    assert.deepEqual(found?.grants?.[0]?.rights, ["write", "delete"]);
    assert.deepEqual(found?.secrets, ["old secret"]);
  }
});

test("a grant made by an earlier Store version does not apply to a recreated bucket of the same name", async (t) => {
  const opened = await scene(t);
  const key = await opened.newKey({ account: "guest", grants: [parseGrant("photos:read")] });
  const restarted = await directScene(t, { log: assert.fail }, opened);
  const get = { method: "GET", path: "/photos/a" };
  assert.equal((await restarted.ask(get, { key })).status, 200);
  await recreate(opened, "stranger");
  assert.equal((await restarted.ask(get, { key })).status, 403);
});

test("dropping grants needs no secret key if none is affected, and keeps unreadable records unchanged", async (t) => {
  const opened = await scene(t);
  const { documents, engine } = opened;
  const bucket = (await engine.bucket("photos"))!;
  const without = createCredentials(documents, () => assert.fail("the secret key was read"), Date.now);
  await without.dropGrants(bucket);
  const key = await opened.granted("photos:read");
  const other = createCredentials(documents, new Uint8Array(32).fill(9), Date.now);
  await other.dropGrants(bucket);
  assert.equal(await opened.read(key), 200);
});
