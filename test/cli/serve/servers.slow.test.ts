// `store dev` and `store serve` as commands: output, access keys, and cleanup after a failed start.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { ListBucketsCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { refused, s3Scene } from "../../s3/scene.ts";
import { openScene, scriptScene } from "../../script/scene.ts";
import { assertRefused } from "../refusals.ts";
import { filesIn, openShell, outcomeOf } from "../store.ts";

const source = "export default { fetch: () => new Response('served') };";

interface Announced {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly url: string;
}

test("dev prints the same access key at each start, and a new key after that key was deleted or disabled", async (t) => {
  const scene = await scriptScene(t, source);
  const started = async () => {
    const server = await scene.start("dev");
    await server.stop();
    return server.announced.s3 as Announced;
  };
  const first = await started();
  assert.match(first.accessKeyId, /^STORE[A-Z2-7]{15}$/);
  const { url: _, ...key } = await started();
  assert.deepEqual(key, { accessKeyId: first.accessKeyId, secretAccessKey: first.secretAccessKey });
  await scene.shell.store("key", "delete", first.accessKeyId);
  const second = await started();
  assert.notEqual(second.accessKeyId, first.accessKeyId);
  await scene.shell.store("key", "disable", second.accessKeyId);
  assert.notEqual((await started()).accessKeyId, second.accessKeyId);
  const listed = await scene.shell.store("key", "list");
  assert.match(
    listed,
    new RegExp(`^${second.accessKeyId}\\t–\\tdefault\\tdisabled`, "m"),
    "the old key is unchanged",
  );
});

test("an access key created while the server runs works immediately, within its grants", async (t) => {
  const s3 = await s3Scene(t, "serve");
  assert.equal("accessKeyId" in s3.server.announced.s3, false, "serve shows no key");
  const writer = s3.client(await s3.newKey("--grant", "bucket:write"));
  await writer.send(new PutObjectCommand({ Bucket: "bucket", Key: "x", Body: "x" }));
  await s3.scene.shell.store("bucket", "create", "other");
  await refused(
    writer.send(new PutObjectCommand({ Bucket: "other", Key: "x", Body: "x" })),
    "AccessDenied",
    403,
  );
  const { Buckets } = await writer.send(new ListBucketsCommand({}));
  assert.deepEqual(
    Buckets?.map(({ Name }) => Name),
    ["bucket"],
  );
});

test("serve without a configuration serves only the S3 API and prints a note about it", async (t) => {
  const scene = await openScene(t);
  const server = scene.shell.start(["serve", "--s3-port", "0", "--console-port", "0"]);
  const ended = outcomeOf(server);
  t.after(() => server.kill("SIGKILL"));
  const url = await new Promise<string>((resolve, reject) => {
    let text = "";
    server.stdout.on("data", (piece) => {
      text += piece;
      const [, found] = /^S3 API on (.*)$/m.exec(text) ?? [];
      if (found !== undefined) resolve(found);
    });
    ended.then(({ stderr }) => reject(new Error(stderr)), reject);
  });
  const { accessKeyId, secretAccessKey } = JSON.parse(
    await scene.shell.store("key", "create", "--json"),
  ) as Announced;
  await scene.shell.store("bucket", "create", "photos");
  const client = new S3Client({
    endpoint: url,
    region: "auto",
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
  });
  await client.send(new PutObjectCommand({ Bucket: "photos", Key: "a", Body: "Hello" }));
  client.destroy();
  assert.equal(await scene.shell.store("object", "get", "photos/a"), "Hello");
  server.kill("SIGTERM");
  const { code, stdout } = await ended;
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^No configuration file found: serving the S3 API without scripts\.\nS3 API on http:\/\/127\.0\.0\.1:\d+\nConsole on http:\/\/127\.0\.0\.1:\d+\nData in \.store\n$/,
  );
});

test("a server that cannot start prints the reason and creates no data directory", async (t) => {
  const shell = await openShell(t);
  await assertRefused(shell, 1, [
    [
      ["dev", "--s3-port", "0", "--console-port", "0"],
      "There is no store.toml, store.json or store.jsonc",
      "store init",
    ],
    [["serve", "--config", "missing.toml"], "missing.toml"],
  ]);
  await assertRefused(shell, 2, [
    [["serve", "--s3-port", "http"], '--s3-port must be a whole number up to 65535, not "http"'],
    [["serve", "--s3-port", "65536"], "--s3-port must be a whole number up to 65535"],
    [["serve", "--port=-1"], "--port must be a whole number"],
    [["serve", "--s3-url", "s3.example.com"], "--s3-url must be a URL without a path"],
    [["serve", "--s3-prot", "0"], "Did you mean --s3-port?"],
  ]);
  assert.deepEqual(await filesIn(shell.directory), {});

  const scene = await scriptScene(t, source);
  await scene.write("store.toml", 'nmae = "script"\n');
  const before = await filesIn(scene.directory);
  for (const mode of ["dev", "serve"]) {
    const told = await scene.shell.fails(1, [mode, "--port", "0", "--s3-port", "0", "--console-port", "0"]);
    assert.match(told, /^store\.toml:1:1: .*nmae/);
  }
  assert.deepEqual(await filesIn(scene.directory), before);
});

/** Returns a port that is in use. */
async function takenPort(t: TestContext): Promise<number> {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  t.after(() => other.close());
  return (other.address() as { port: number }).port;
}

test("an S3 port that is in use is reported with the option that sets another port", async (t) => {
  const scene = await scriptScene(t, source);
  const port = await takenPort(t);
  const args = ["--port", "0", "--s3-port", String(port), "--console-port", "0", "--create-buckets"];
  for (const mode of ["dev", "serve"]) {
    const { code, stdout, stderr } = await scene.shell.run([mode, ...args]);
    assert.deepEqual([code, stdout], [1, ""], stderr);
    const words = `error: Cannot listen on port ${port} of 127\\.0\\.0\\.1: it is already in use\\.\\n.*--s3-port PORT`;
    assert.match(stderr, new RegExp(words));
  }
});
