// S3's notification configuration and the notification rules of a bucket are the same.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  GetBucketNotificationConfigurationCommand,
  type NotificationConfiguration,
  PutBucketNotificationConfigurationCommand,
} from "@aws-sdk/client-s3";
import { refused, s3Scene } from "../../scene.ts";

const Bucket = "bucket";

test("a configuration with functions and topics becomes rules for scripts and webhooks", async (t) => {
  const s3 = await s3Scene(t);
  const client = s3.client();
  const notify = async (verb: string, ...args: string[]) => {
    const run = await s3.scene.shell.run([
      ...["bucket", "notify", verb, Bucket, "--data", s3.data, "--json"],
      ...args,
    ]);
    assert.equal(run.code, 0, run.stderr);
    return JSON.parse(run.stdout);
  };
  const put = (NotificationConfiguration: NotificationConfiguration) =>
    client.send(new PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration }));
  const get = async () => {
    const { $metadata, ...configuration } = await client.send(
      new GetBucketNotificationConfigurationCommand({ Bucket }),
    );
    return configuration;
  };
  const topic = {
    Id: "hook",
    TopicArn: "arn:aws:sns:::hook",
    Events: ["s3:ObjectRemoved:*" as const],
  };
  const script = {
    Id: "thumbnails",
    LambdaFunctionArn: "arn:aws:lambda:::function:app",
    Events: ["s3:ObjectCreated:Put" as const, "s3:ObjectCreated:Copy" as const],
    Filter: {
      Key: {
        FilterRules: [
          { Name: "prefix" as const, Value: "in/" },
          { Name: "suffix" as const, Value: ".jpg" },
        ],
      },
    },
  };
  await refused(put({ TopicConfigurations: [topic] }), "InvalidArgument", 400);
  await refused(put({ LambdaFunctionConfigurations: [script] }), "InvalidArgument", 400);
  await notify("add", "--script", "app", "--id", "thumbnails", "--force");
  await notify("add", "--webhook", "http://127.0.0.1:9/hook", "--id", "hook");
  await put({ TopicConfigurations: [topic], LambdaFunctionConfigurations: [script] });
  assert.deepEqual(await get(), { TopicConfigurations: [topic], LambdaFunctionConfigurations: [script] });
  const rules = (await notify("list")) as Record<string, unknown>[];
  assert.deepEqual(
    rules.map(({ id, prefix, suffix, webhook, script: name }) => [id, prefix, suffix, webhook ?? name]),
    [
      ["hook", "", "", "http://127.0.0.1:9/hook"],
      ["thumbnails", "in/", ".jpg", "app"],
    ],
  );
  for (const wrong of [
    { LambdaFunctionConfigurations: [{ ...script, LambdaFunctionArn: "arn:aws:lambda:eu:1:function:x" }] },
    { LambdaFunctionConfigurations: [script, script] },
    { LambdaFunctionConfigurations: [{ ...script, Id: "not a name" }] },
    { LambdaFunctionConfigurations: [{ ...script, Events: ["s3:TestEvent" as never] }] },
    { LambdaFunctionConfigurations: [{ ...script, Id: "hook" }] },
    { TopicConfigurations: [{ ...topic, Id: "other" }] },
    { QueueConfigurations: [{ QueueArn: "arn:aws:sqs:::q", Events: topic.Events }] },
    { EventBridgeConfiguration: {} },
  ])
    await refused(put(wrong), "InvalidArgument", 400);
  assert.equal(((await notify("list")) as unknown[]).length, 2);
  await put({});
  assert.deepEqual(await get(), {});
  assert.deepEqual(await notify("list"), []);
});
