// Key-value namespaces in scripts, and that the S3 API does not expose them as buckets.
import assert from "node:assert/strict";
import { test } from "node:test";
import { GetObjectCommand, ListBucketsCommand, S3Client } from "@aws-sdk/client-s3";
import { presignedUrl } from "../../../src/binding/presign.ts";
import { refused } from "../../s3/scene.ts";
import { openScene, scriptScene, writeScript } from "../scene.ts";

const config = `
[[kv_namespaces]]
binding = "SESSIONS"
id = "sessions"
`;

const source = `
export default {
  async fetch(request, env) {
    const key = new URL(request.url).pathname.slice(1);
    if (request.method === "PUT") {
      await env.SESSIONS.put(key, request.body, { metadata: { by: "script" }, expirationTtl: 3600 });
      return new Response("stored");
    }
    if (key === "list") return Response.json((await env.SESSIONS.list()).keys.map(({ name }) => name));
    if (key === "stream") return new Response(await env.SESSIONS.get("large", "stream"));
    return Response.json(await env.SESSIONS.getWithMetadata(key));
  },
};`;

test("a script has its namespace as env.<binding>, and the command line sees the same keys", async (t) => {
  const scene = await scriptScene(t, source, config);
  const { ask, announced } = await scene.start("serve");
  assert.deepEqual((announced.scripts[0] as { kvNamespaces?: unknown }).kvNamespaces, [
    { binding: "SESSIONS", namespace: "sessions" },
  ]);
  assert.equal((await ask({ method: "PUT", path: "/user", body: "Ada" })).text, "stored");
  assert.deepEqual(JSON.parse((await ask("/user")).text), {
    value: "Ada",
    metadata: { by: "script" },
    cacheStatus: null,
  });
  const large = "x".repeat(3_000_000);
  await ask({ method: "PUT", path: "/large", body: large });
  assert.equal((await ask("/stream")).text, large);
  assert.equal(await scene.shell.store("kv", "get", "sessions", "user"), "Ada");
  await scene.shell.store("kv", "put", "sessions", "other", "1");
  assert.deepEqual(JSON.parse((await ask("/list")).text), ["large", "other", "user"]);
});

test("the S3 API neither lists a key-value namespace nor accesses it by name", async (t) => {
  const scene = await scriptScene(t, source, config);
  const { ask, announced } = await scene.start("dev");
  await ask({ method: "PUT", path: "/user", body: "Ada" });
  const { url, accessKeyId, secretAccessKey } = announced.s3 as {
    url: string;
    accessKeyId: string;
    secretAccessKey: string;
  };
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({ endpoint: url, region: "auto", forcePathStyle: true, credentials });
  t.after(() => client.destroy());
  const { Buckets } = await client.send(new ListBucketsCommand({}));
  assert.deepEqual(
    Buckets?.map(({ Name }) => Name),
    ["bucket"],
  );
  await refused(client.send(new GetObjectCommand({ Bucket: "sessions", Key: "user" })), "NoSuchBucket", 404);
  // The S3 client refuses the internal bucket name, so these requests are signed by the test.
  for (const method of ["GET", "HEAD", "PUT", "DELETE"] as const) {
    const presigner = { endpoint: url, ...credentials };
    const signed = presignedUrl(presigner, "kv:sessions", "user", { method });
    const answer = await fetch(signed, { method, ...(method === "PUT" ? { body: "Eve" } : {}) });
    assert.equal(answer.status, 404, method);
    if (method !== "HEAD") assert.match(await answer.text(), /<Code>NoSuchBucket<\/Code>/, method);
  }
  assert.equal(await scene.shell.store("kv", "get", "sessions", "user"), "Ada");
});

test("a missing key-value namespace is reported with its position and the command that creates it", async (t) => {
  const scene = await openScene(t);
  await writeScript(scene, { source, config });
  await scene.shell.store("bucket", "create", "bucket");
  const ports = ["--port", "0", "--s3-port", "0", "--console-port", "0"];
  assert.match(
    await scene.shell.fails(1, ["serve", ...ports]),
    /store\.toml:\d+:\d+: There is no key-value namespace "sessions".*store kv namespace create sessions/s,
  );
});
