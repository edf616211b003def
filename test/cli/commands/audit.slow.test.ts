// `store audit`: lists changes by the command line, the console and the S3 API, and never a secret.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { CreateBucketCommand, DeleteBucketCommand, PutBucketCorsCommand } from "@aws-sdk/client-s3";
import type { AuditEntry } from "../../../src/audit/audit-log.ts";
import { ownHeader } from "../../../src/console/auth/origin-check.ts";
import { s3Scene } from "../../s3/scene.ts";

test("audit lists actions of the command line, the console and the S3 API in order, with user and address, without secrets", async (t) => {
  const { scene, data, client, key, server } = await s3Scene(t, "serve");
  const run = async (args: string[], input = "") => {
    const { code, stdout, stderr } = await scene.shell.run([...args, "--data", data], { input });
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const { token, id } = JSON.parse(await run(["console", "token", "--name", "berta", "--json"])) as {
    token: string;
    id: string;
  };
  await run(["bucket", "create", "made-here"]);
  await run(["secret", "put", "PASS", "--script", "shop"], "very-secret-value");
  const rotated = JSON.parse(await run(["key", "rotate", key.accessKeyId, "--json"])) as typeof key;
  await run(["key", "disable", key.accessKeyId]);
  await run(["key", "enable", key.accessKeyId]);

  const s3 = client({ ...key, ...rotated });
  await s3.send(new CreateBucketCommand({ Bucket: "made-there" }));
  const rules = { CORSRules: [{ AllowedMethods: ["GET"], AllowedOrigins: ["*"] }] };
  await s3.send(new PutBucketCorsCommand({ Bucket: "made-there", CORSConfiguration: rules }));
  await s3.send(new DeleteBucketCommand({ Bucket: "made-there" }));
  await assert.rejects(s3.send(new DeleteBucketCommand({ Bucket: "never-was" })));

  const { url } = server.announced.console;
  const ask = (method: string, path: string, body?: object, cookie = "") =>
    fetch(url + path, {
      method,
      headers: { [ownHeader]: "1", "content-type": "application/json", cookie },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const wrong = token.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
  assert.equal((await ask("POST", "/api/session", { token: wrong })).status, 401);
  const signedIn = await ask("POST", "/api/session", { token });
  const cookie = signedIn.headers.get("set-cookie")!.split(";")[0]!;
  const made = (await (await ask("POST", "/api/keys", {}, cookie)).json()) as typeof key;
  assert.equal((await ask("POST", "/api/buckets", { name: "made-by-page" }, cookie)).status, 201);
  assert.equal((await ask("POST", "/api/buckets", { name: "made-by-page" }, cookie)).status, 409);
  await ask("DELETE", `/api/keys?key=${made.accessKeyId}`, undefined, cookie);
  await ask("DELETE", "/api/session", undefined, cookie);

  const told = (await run(["audit", "--json"])).trim().split("\n");
  const acts = told.map((line) => JSON.parse(line) as AuditEntry);
  assert.deepEqual(
    acts.map(({ act, subject, by }) => [by.face, act, subject]),
    [
      ["command line", "create bucket", "bucket"],
      ["command line", "create key", key.accessKeyId],
      ["command line", "create token", id],
      ["command line", "create bucket", "made-here"],
      ["command line", "put secret", "shop/PASS"],
      ["command line", "rotate key", key.accessKeyId],
      ["command line", "disable key", key.accessKeyId],
      ["command line", "enable key", key.accessKeyId],
      ["s3", "create bucket", "made-there"],
      ["s3", "change cors", "made-there"],
      ["s3", "delete bucket", "made-there"],
      ["console", "refuse sign-in", undefined],
      ["console", "sign in", undefined],
      ["console", "create key", made.accessKeyId],
      ["console", "create bucket", "made-by-page"],
      ["console", "delete key", made.accessKeyId],
      ["console", "sign out", undefined],
    ],
  );
  const there = acts.find(({ subject }) => subject === "made-there")!.by;
  assert.deepEqual([there.name, there.remoteAddress], [key.accessKeyId, "127.0.0.1"]);
  assert.match(there.request!, /^[0-9A-F]{16}$/);
  assert.equal(acts.find(({ act }) => act === "sign in")!.by.name, "berta");
  assert.equal(acts.find(({ act }) => act === "refuse sign-in")!.by.name, id);
  const text = readFileSync(join(data, "audit.log"), "utf8");
  const secrets = [key.secretAccessKey, rotated.secretAccessKey, made.secretAccessKey, "very-secret-value"];
  for (const secret of [...secrets, token, wrong, cookie.split("=")[1]!]) assert.ok(!text.includes(secret));

  const shown = await run(["audit", "--act", "create bucket", "--by", "berta", "--since", "1h"]);
  assert.match(shown, /^\S+Z {2}create bucket {2}made-by-page {2}console berta 127\.0\.0\.1\n$/);
  const { code, stderr } = await scene.shell.run(["audit", "--act", "crate key", "--data", data]);
  assert.equal(code, 2);
  assert.match(stderr, /There is no action "crate key"/);

  const following = scene.shell.start(["audit", "--follow", "--subject", "later", "--data", data]);
  const ended = new Promise((resolve) => following.once("exit", resolve));
  const lines = createInterface(following.stdout)[Symbol.asyncIterator]();
  await run(["bucket", "create", "later"]);
  assert.match((await lines.next()).value as string, /create bucket {2}later/);
  following.kill("SIGTERM");
  await ended;
});
