// `store key`: creates access keys, lists them without secrets, and deletes them.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { createCredentials } from "../../../src/access/keys/credentials.ts";
import { openEngine } from "../../../src/open.ts";
import { loadSecretKey } from "../../../src/secrets/master-key.ts";
import { openShell } from "../store.ts";

interface Key {
  readonly accessKeyId: string;
  readonly secretAccessKey?: string;
  readonly account: string;
  readonly grants: readonly { bucket: string; rights: string[] }[] | null;
  readonly expires: string | null;
  readonly state: string;
}

test("key create sets account, grants and expiry, and --json prints the credentials", async (t) => {
  const shell = await openShell(t);
  await shell.store("bucket", "create", "photos");
  await shell.store("bucket", "create", "backups");
  const started = Date.now();
  const options = [
    "--account",
    "team",
    "--grant",
    "photos:read,list",
    "--grant",
    "backups:write",
    "--expires",
    "30d",
  ];
  const key = JSON.parse(await shell.store("key", "create", ...options, "--json")) as Key;
  assert.match(key.accessKeyId, /^STORE[A-Z2-7]{15}$/);
  assert.equal(key.secretAccessKey?.length, 40);
  assert.equal(key.account, "team");
  assert.deepEqual(key.grants, [
    { bucket: "photos", rights: ["read", "list"] },
    { bucket: "backups", rights: ["write"] },
  ]);
  const lifetime = Date.parse(key.expires!) - started;
  assert.ok(Math.abs(lifetime - 30 * 86_400_000) < 60_000, `it expires after ${lifetime} ms`);

  const location = join(shell.directory, ".store");
  const { engine, documents } = await openEngine(location);
  const found = await createCredentials(documents, loadSecretKey(location, undefined), Date.now).find(
    key.accessKeyId,
  );
  await engine.close();
  assert.equal(found?.secretAccessKey, key.secretAccessKey);
});

test("an access key loses its grant when the bucket is deleted, and a grant for a missing bucket is refused", async (t) => {
  const shell = await openShell(t);
  await shell.store("bucket", "create", "photos");
  await shell.store("bucket", "create", "backups");
  await shell.store("key", "create", "--grant", "photos:read", "--grant", "backups:list");
  await shell.store("key", "create", "--grant", "photos:read");
  await shell.store("bucket", "delete", "photos");
  await shell.store("bucket", "create", "photos");
  const keys = JSON.parse(await shell.store("key", "list", "--json")) as Key[];
  assert.deepEqual(
    keys.map(({ grants }) => grants),
    [[{ bucket: "backups", rights: ["list"] }], []],
  );
  assert.match(await shell.store("key", "list"), /\tnone$/m);
  const refused = await shell.run(["key", "create", "--grant", "missing:read"]);
  assert.deepEqual([refused.code, /missing/.test(refused.stderr)], [1, true], refused.stderr);
});

test("key list prints no secrets and no deleted keys", async (t) => {
  const shell = await openShell(t);
  const { code, stdout, stderr } = await shell.run(["key", "create", "--grant", "*:admin"]);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /not shown again/);
  const [, id = ""] = /^access key id\t(\S+)$/m.exec(stdout) ?? [];
  const [, secret = ""] = /^secret access key\t(\S+)$/m.exec(stdout) ?? [];
  assert.equal(secret.length, 40);
  const other = JSON.parse(await shell.store("key", "create", "--json")) as Key;
  assert.equal(other.grants, null, "without grants the key has full access to the account");

  const listed = await shell.store("key", "list");
  assert.match(listed, new RegExp(`^${id}\\t–\\tdefault\\tactive\\t\\S+\\tnever\\tnever\\t\\*:admin$`, "m"));
  assert.match(listed, new RegExp(`^${other.accessKeyId}\\t.*\\tfull access$`, "m"));
  assert.ok(!listed.includes(secret));
  const json = await shell.store("key", "list", "--json");
  assert.ok(!json.includes(secret) && !json.includes("secretAccessKey"));
  assert.equal((JSON.parse(json) as Key[]).length, 2);

  assert.equal(await shell.store("key", "delete", id), `Deleted access key ${id}.\n`);
  assert.deepEqual(
    (JSON.parse(await shell.store("key", "list", "--json")) as Key[]).map(({ accessKeyId }) => accessKeyId),
    [other.accessKeyId],
  );
});

test("an invalid account name is refused with a message", async (t) => {
  const shell = await openShell(t);
  assert.match(
    await shell.fails(2, ["key", "create", "--account", "No Team"]),
    /Account name "No Team" is not valid/,
  );
});
