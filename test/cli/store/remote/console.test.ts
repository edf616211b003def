// Quotas and keys of a running server, by the console's API.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Permissions } from "../../../../src/console/auth/roles.ts";
import { createTokens } from "../../../../src/console/auth/tokens.ts";
import { apiScene } from "../../../console/api/scene.ts";
import { temporaryDirectory } from "../../../support/stores.ts";
import { createRunner } from "../../in-process.ts";

async function openConsole(t: TestContext) {
  const scene = await apiScene(t);
  const directory = await temporaryDirectory(t);
  const runWith = (token: string, url = scene.url) =>
    createRunner({
      directory,
      environment: {
        ...{ HOME: directory, STORE_ENDPOINT: "http://127.0.0.1:1" },
        ...{ AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" },
        ...{ STORE_CONSOLE_URL: url, STORE_CONSOLE_TOKEN: token },
      },
    });
  const newToken = async (permissions: Permissions, expires?: number) =>
    (await createTokens(scene.documents, Date.now).create({ name: "cli", permissions, expires })).token;
  return { ...scene, runWith, newToken };
}

test("quotas of buckets are set, shown, listed and removed through the console", async (t) => {
  const { engine, audited, signIns, runWith, newToken } = await openConsole(t);
  const cli = runWith(await newToken({ role: "administrator" }));
  await cli.store("quota", "set", "bucket", "--bytes", "1KB");
  assert.deepEqual((await engine.bucket("bucket"))?.settings.quota, { bytes: 1000 });
  assert.match(await cli.store("quota", "show", "bucket"), /size\t0 of 1000\n/);
  assert.equal(await cli.store("quota", "list"), "bucket\tbucket\t0\t1000\t0\tno limit\n");
  await cli.store("quota", "remove", "bucket");
  assert.equal((await engine.bucket("bucket"))?.settings.quota, undefined);
  assert.deepEqual(audited, ["change quota bucket", "change quota bucket"]);
  assert.equal(signIns.filter((line) => line.startsWith("sign out")).length, 5, "every session is ended");
});

test("a wrong or expired token, a missing right and an unknown server are answered with the cure", async (t) => {
  const { engine, runWith, newToken } = await openConsole(t);
  const set = ["quota", "set", "bucket", "--bytes", "1KB"];
  const wrong = "sct-aaaaaaaaaa-secret";
  const invalid = await runWith(wrong).fails(...set);
  assert.match(
    invalid,
    /^1: error: The console at .* refused .*token is invalid, expired or revoked[\s\S]*store console token/,
  );
  assert.doesNotMatch(invalid, /sct-/);
  assert.match(
    await runWith(await newToken({ role: "administrator" }, Date.now() - 1)).fails(...set),
    /expired or revoked/,
  );
  assert.match(
    await runWith(await newToken({ role: "viewer" })).fails(...set),
    /^1: error: The console at .* refused/,
  );
  assert.match(
    await runWith(wrong, "http://127.0.0.1:1").fails(...set),
    /^1: error: The console at 127\.0\.0\.1:1 cannot be reached/,
  );
  assert.match(
    await runWith("").fails(...set),
    /^2: error: store quota set needs the console's API[\s\S]*STORE_CONSOLE_TOKEN/,
  );
  const cli = runWith(await newToken({ role: "administrator" }));
  assert.match(await cli.fails("quota", "show", "--account", "x"), /^2: error: The quota of an account/);
  assert.match(
    await cli.fails("key", "create", "--requests-per-second", "5"),
    /^2: error: --requests-per-second cannot be set/,
  );
  assert.match(await cli.fails("role", "list"), /^2: error: store role list works on the files/);
  assert.equal((await engine.bucket("bucket"))?.settings.quota, undefined);
});
