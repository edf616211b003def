// Events of a running server: rules come from the command line and writes from a script and S3; a
// webhook and a script receive the events. The handler ends after its waitUntil promises.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CreateBucketCommand,
  PutBucketNotificationConfigurationCommand,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { until } from "../script/inside.ts";
import { type Scene, scriptScene } from "../script/scene.ts";
import { isSigned, openReceiver } from "./receiver.ts";

const source = `
const failed = new Set();
const failsOnce = (key) => !failed.has(key) && failed.add(key);
export default {
  async fetch(request, env) {
    const key = new URL(request.url).pathname.slice(1);
    if (request.method === "PUT") await env.BUCKET.put(key, request.body);
    if (request.method === "DELETE") await env.BUCKET.delete(key);
    return new Response((await (await env.BUCKET.get(key))?.text()) ?? "");
  },
  async notification(event, env, ctx) {
    console.log("raw \\x1b[1;31mred\\x1b[0m\\x1b[2J\\x07 \\t\\x9b2J end");
    if (event.key === "in/twice" && failsOnce(event.key)) throw new Error("not this time\\x1b]0;title");
    ctx.waitUntil(
      new Promise((resolve) => setTimeout(resolve, 20)).then(async () => {
        if (event.key === "in/late" && failsOnce(event.key)) throw new Error("nor this time");
        const { type, name, bucket, key, time, size, etag, id, sequencer } = event;
        const isDate = time instanceof Date;
        const received = { type, name, bucket, key, size, etag, isDate, ids: [id.length, sequencer.length] };
        await env.BUCKET.put("out/" + key + "/" + name, JSON.stringify(received));
      }),
    );
  },
};`;

async function run(scene: Scene, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await scene.shell.run([...args, "--data", `${scene.directory}/.store`]);
  assert.equal(code, 0, stderr);
  return stdout;
}

test("a script's notification handler and a webhook receive events of writes, and failed calls are retried", async (t) => {
  const scene = await scriptScene(t, source);
  const receiver = await openReceiver(t);
  const server = await scene.start("dev");
  await run(scene, "bucket", "notify", "add", "bucket", "--script", "script", "--prefix", "in/");
  const options = [
    "--webhook",
    receiver.url,
    "--event",
    "create",
    "--suffix",
    "s3",
    "--id",
    "hook",
    "--json",
  ];
  const { secret } = JSON.parse(await run(scene, "bucket", "notify", "add", "bucket", ...options)) as {
    secret: string;
  };
  const out = (key: string) => server.ask(`/out/in/${key}`);
  const handledEvent = async (key: string, name: string) => {
    const path = `${key}/${name}`;
    await until(async () => (await out(path)).text !== "", `${path} is handled`);
    return JSON.parse((await out(path)).text) as Record<string, unknown>;
  };

  await server.ask({ method: "PUT", path: "/in/plain", body: "hello" });
  assert.deepEqual(await handledEvent("plain", "s3:ObjectCreated:Put"), {
    ...{ type: "notification", name: "s3:ObjectCreated:Put", bucket: "bucket", key: "in/plain", size: 5 },
    ...{ etag: "5d41402abc4b2a76b9719d911017c592", isDate: true, ids: [32, 16] },
  });
  await server.ask({ method: "PUT", path: "/in/twice", body: "x" });
  await server.told(/^raw red\\x1b\[2J\\x07 \t\\x9b2J end$/m);
  await server.told(/Error: not this time\\x1b\]0;title\n +at .*src\/index\.ts/);
  await server.told(/will be retried \(.*script "script"\): not this time\\x1b\]0;title/);
  await handledEvent("twice", "s3:ObjectCreated:Put");
  await server.ask({ method: "PUT", path: "/in/late", body: "x" });
  await server.told(/Error: nor this time/);
  await handledEvent("late", "s3:ObjectCreated:Put");
  await server.ask({ method: "DELETE", path: "/in/plain" });
  await handledEvent("plain", "s3:ObjectRemoved:Delete");

  const { url, accessKeyId, secretAccessKey } = server.announced.s3 as Record<string, string>;
  const client = new S3Client({
    ...{ endpoint: url!, region: "auto", forcePathStyle: true },
    credentials: { accessKeyId: accessKeyId!, secretAccessKey: secretAccessKey! },
  });
  t.after(() => client.destroy());
  await client.send(new PutObjectCommand({ Bucket: "bucket", Key: "in/by-s3", Body: "12345" }));
  await handledEvent("by-s3", "s3:ObjectCreated:Put");
  const [event] = await receiver.took(1);
  assert.equal(event!.s3.object.key, "in%2Fby-s3");
  assert.ok(receiver.received.every((one) => isSigned(one, secret)));

  const putRule = (Bucket: string, script: string) => {
    const LambdaFunctionArn = `arn:aws:lambda:::function:${script}`;
    const rule = { Id: "by-s3", LambdaFunctionArn, Events: ["s3:ObjectCreated:*" as const] };
    const NotificationConfiguration = { LambdaFunctionConfigurations: [rule] };
    return client.send(new PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration }));
  };
  await client.send(new CreateBucketCommand({ Bucket: "unbound" }));
  for (const [bucket, script] of [
    ["unbound", "script"],
    ["bucket", "absent"],
  ] as const)
    await assert.rejects(putRule(bucket, script), {
      name: "InvalidArgument",
      message: /is bound to the bucket/,
    });

  assert.match(await run(scene, "bucket", "notify", "test", "bucket", "hook"), /accepted the test message/);
  assert.match(receiver.received.at(-1)!.body, /s3:TestEvent/);
  const shown = await run(scene, "bucket", "notify", "list", "bucket");
  assert.match(shown, /hook\ts3:ObjectCreated:\*\t\*s3\thttp:.*\/hook/);
  assert.ok(!shown.includes(secret));
  await putRule("bucket", "script");
});

test("a rule for a script without a notification handler is reported once, with what to do and without a stack", async (t) => {
  const scene = await scriptScene(t, "export default { fetch: () => new Response() };");
  const server = await scene.start("dev");
  const { stderr } = await scene.shell.run(
    ["bucket", "notify", "add", "bucket", "--script", "nope"].concat("--data", `${scene.directory}/.store`),
  );
  assert.match(stderr, /There is no script "nope" that is bound to the bucket "bucket"; nothing was changed/);
  await run(scene, "bucket", "notify", "add", "bucket", "--script", "script");
  await scene.shell.run(["object", "put", "bucket/a", "-", "--data", `${scene.directory}/.store`]);
  await server.told(
    /will be retried \(.*script "script"\): .* no notification handler: add one, or remove the rule\.\n/,
  );
});
