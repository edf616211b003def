// `store key import`, `store key temp` and `store role`: what they accept, refuse and record.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openPolicy } from "../../../src/access/temporary/session-policy.ts";
import { openShell } from "../store.ts";

test("key import adds a key with a given id, secret and name once, and key list shows it", async (t) => {
  const shell = await openShell(t);
  await shell.store("bucket", "create", "photos");
  const file = join(shell.directory, "secret.txt");
  await writeFile(file, "a-secret-of-another-system\n");
  const options = ["--id", "old.user@example", "--secret-file", file, "--name", "old system"];
  const imported = JSON.parse(
    await shell.store("key", "import", ...options, "--grant", "photos:read", "--json"),
  );
  assert.equal(imported.accessKeyId, "old.user@example");
  assert.equal(imported.name, "old system");
  assert.equal(imported.secretAccessKey, undefined, "the secret is not repeated");
  const listed = await shell.store("key", "list");
  assert.match(listed, /^old\.user@example\told system\tdefault\tactive\t/m);
  const again = await shell.run(["key", "import", ...options]);
  assert.equal(again.code, 2);
  assert.match(again.stderr, /already exists; nothing was changed/);
  for (const wrong of [
    ["--id", "a/b", "--secret-file", file],
    ["--id", "abc"],
    ["--secret-file", file],
  ])
    assert.equal((await shell.run(["key", "import", ...wrong])).code, 2);
  await writeFile(file, "short\n");
  const short = await shell.run(["key", "import", "--id", "another", "--secret-file", file]);
  assert.match(short.stderr, /8 to 128/);
  assert.match(await shell.store("audit"), /import key +old\.user@example/);
});

test("key temp prints credentials in three forms, and works without a store", async (t) => {
  const shell = await openShell(t);
  await shell.store("bucket", "create", "photos");
  const key = JSON.parse(await shell.store("key", "create", "--json"));
  const own = ["key", "temp", "--key", key.accessKeyId, "--grant", "photos/2026/*:read"];
  assert.match(await shell.store(...own), /^access key id\tTEMP[A-Z2-7]{16}$/m);
  const made = JSON.parse(await shell.store(...own, "--expires", "15m", "--json"));
  assert.deepEqual(Object.keys(made), [
    ...["Version", "AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration"],
  ]);
  const left = Date.parse(made.Expiration) - Date.now();
  assert.ok(left > 800_000 && left <= 900_000);
  const file = join(shell.directory, "secret.txt");
  await writeFile(file, key.secretAccessKey);
  const offline = ["key", "temp", "--parent-id", key.accessKeyId, "--parent-secret-file", file, "--env"];
  assert.match(
    await shell.store(...offline, "--data", join(shell.directory, "nothing")),
    /^export AWS_ACCESS_KEY_ID=TEMP\w+\nexport AWS_SECRET_ACCESS_KEY=[\w-]+\nexport AWS_SESSION_TOKEN=ST1\./,
  );
  const policy = join(shell.directory, "session.json");
  const statement = { Effect: "Allow", Action: "s3:GetObject", Resource: "arn:aws:s3:::photos/2026/*" };
  await writeFile(policy, JSON.stringify({ Statement: statement }));
  const narrow = await shell.store("key", "temp", "--key", key.accessKeyId, "--policy", policy, "--json");
  const [, , content = ""] = JSON.parse(narrow).SessionToken.split(".");
  const packed = JSON.parse(Buffer.from(content, "base64url").toString()).policy;
  assert.deepEqual(openPolicy(packed)!.statements[0]!.resources.patterns, ["photos/2026/*"]);
  const refusals = [
    ["--grant", "photos:read"],
    ["--key", key.accessKeyId, "--parent-id", "x"],
    ["--key", key.accessKeyId, "--expires", "8d"],
    ["--key", key.accessKeyId, "--operation", "GetObject"],
    ["--key", key.accessKeyId, "--grant", "photos:everything"],
    ["--key", key.accessKeyId, "--policy", file],
  ];
  for (const refusal of refusals)
    assert.equal((await shell.run(["key", "temp", ...refusal])).code, 2, refusal.join(" "));
  assert.equal((await shell.run(["key", "temp", "--key", "STOREAAAAAAAAAAAAAAA"])).code, 1);
  assert.match(await shell.store("audit"), /create temporary credentials +STORE/);
});

test("roles are created, listed, shown and deleted, and settings that trust nobody are refused", async (t) => {
  const shell = await openShell(t);
  await shell.store("bucket", "create", "photos");
  const grant = ["--grant", "photos/2026/*:read"];
  const oidc = ["--trust-oidc", "https://id.example.com", "--audience", "store", "--claim", "sub=team:*"];
  await shell.store("role", "create", "deploy", ...grant, ...oidc, "--max-duration", "12h");
  const role = JSON.parse(await shell.store("role", "show", "deploy", "--json"));
  assert.equal(role.arn, "arn:aws:iam::default:role/deploy");
  assert.equal(role.maxDurationSeconds, 43_200);
  assert.deepEqual(role.trust.providers, [
    { issuer: "https://id.example.com", audiences: ["store"], claims: { sub: "team:*" } },
  ]);
  assert.equal(JSON.parse(await shell.store("role", "list", "--json")).length, 1);
  const refusals = [
    ["deploy", ...grant, "--trust-account", "default"],
    ["nobody", ...grant],
    ["nothing", "--trust-account", "default"],
    ["bad/name", ...grant, "--trust-account", "default"],
    ["long", ...grant, "--trust-account", "default", "--max-duration", "13h"],
    ["plain", ...grant, "--trust-oidc", "http://id.example.com", "--audience", "store"],
    ["any", ...grant, "--trust-oidc", "https://id.example.com"],
    ["claims", ...grant, "--claim", "sub=x"],
  ];
  for (const refusal of refusals)
    assert.equal((await shell.run(["role", "create", ...refusal])).code, 2, refusal.join(" "));
  await shell.store("role", "delete", "deploy");
  assert.equal((await shell.run(["role", "show", "deploy"])).code, 1);
  assert.match(await shell.store("audit"), /create role +role:deploy/);
});
