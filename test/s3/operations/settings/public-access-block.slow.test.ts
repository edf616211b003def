// Puts generated policies that mean "anyone" on a server: without a block they let an anonymous
// caller in, under a block they let nobody in.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CreateBucketCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
  PutPublicAccessBlockCommand,
} from "@aws-sdk/client-s3";
import { type AnyonePolicy, generateAnyone } from "../../../access/policy/anyone.ts";
import { seeded } from "../../../support/random.ts";
import { refused, s3Scene } from "../../scene.ts";

const count = 60;

test("policies that mean anyone let an anonymous caller in, but not under a public access block", async (t) => {
  const { client, url } = await s3Scene(t, "dev", ["--trust-proxy", "127.0.0.1"]);
  const owner = client();
  const block = (Bucket: string, PublicAccessBlockConfiguration: Record<string, boolean>) =>
    owner.send(new PutPublicAccessBlockCommand({ Bucket, PublicAccessBlockConfiguration }));
  for (const Bucket of ["opened", "closed", "strict"]) {
    await owner.send(new CreateBucketCommand({ Bucket }));
    await owner.send(new PutObjectCommand({ Bucket, Key: "a/b", Body: "secret" }));
  }
  await block("closed", { RestrictPublicBuckets: true });
  await block("strict", { BlockPublicPolicy: true });

  async function send(bucket: string, { address, headers }: AnyonePolicy): Promise<number[]> {
    const all = { ...headers, "x-forwarded-for": address };
    const statuses: number[] = [];
    for (const [method, path, body] of [
      ["GET", "/a/b"],
      ["GET", "?list-type=2&prefix=a/"],
      ["PUT", "/a/c", "x"],
      ["DELETE", "/a/c"],
      ["POST", "?delete", "<Delete><Object><Key>a/c</Key></Object></Delete>"],
    ] as const) {
      const response = await fetch(`${url}/${bucket}${path}`, { method, headers: all, body: body ?? null });
      const text = await response.text();
      const isDenied = response.status === 403 || text.includes("<Code>AccessDenied</Code>");
      statuses.push(isDenied ? 403 : response.status);
    }
    return statuses;
  }

  await seeded(async (random) => {
    let opened = 0;
    for (let i = 0; i < count; i++) {
      const policy = generateAnyone(random, "closed");
      const put = (Bucket: string) =>
        owner.send(new PutBucketPolicyCommand({ Bucket, Policy: policy.text.replaceAll("closed", Bucket) }));
      try {
        await put("closed");
      } catch (error) {
        assert.equal((error as Error).name, "MalformedPolicy", policy.text);
        continue;
      }
      await put("opened");
      await refused(put("strict"), "AccessDenied", 403);
      assert.deepEqual(await send("closed", policy), Array(5).fill(403), policy.text);
      if ((await send("opened", policy)).some((status) => status < 300)) opened++;
    }
    assert.ok(opened >= count * 0.7, `${opened} of ${count} policies let the caller in`);
  });
});
