// Section "access": S3 requests of a key with a grant on a prefix, to a bucket with a policy and a
// quota, against those of a key with full access to a bucket with neither. One server serves both.
import type { ChildProcess } from "node:child_process";
import { parseGrant } from "../../src/access/grants.ts";
import { smallRows } from "../peers/s3-rows.ts";
import { s3ServerAt } from "../peers/s3-server.ts";
import { startWithScript } from "../peers/s3-store.ts";
import type { Context, Section } from "../section.ts";
import { end } from "../servers.ts";

export const access: Section = {
  name: "access",
  description: "S3 with a prefix grant, a bucket policy and a quota, against none of them",
  run,
};

const guarded = "guarded";
const resource = `arn:aws:s3:::${guarded}`;
const policy = JSON.stringify({
  Version: "2012-10-17",
  Statement: [
    {
      Effect: "Allow",
      Principal: { AWS: "arn:aws:iam::partner:root" },
      Action: ["s3:GetObject", "s3:ListBucket"],
      Resource: [resource, `${resource}/shared/*`],
      Condition: { IpAddress: { "aws:SourceIp": "192.0.2.0/24" } },
    },
    { Effect: "Deny", Principal: "*", Action: "s3:Delete*", Resource: `${resource}/object-*` },
    {
      Effect: "Deny",
      Principal: "*",
      Action: "s3:*",
      Resource: `${resource}/*`,
      Condition: { NotIpAddress: { "aws:SourceIp": ["127.0.0.0/8", "::1/128"] } },
    },
  ],
});

async function run(context: Context): Promise<void> {
  const started: ChildProcess[] = [];
  let key = { accessKeyId: "", secretAccessKey: "" };
  try {
    const { server, s3Url } = await startWithScript(context.directory, started, {
      async prepare(engine, credentials) {
        await engine.createBucket(guarded);
        await engine.changeSettings(guarded, { policy, quota: { bytes: 1e15, objects: 1e12 } });
        key = await credentials.create({ grants: [parseGrant(`${guarded}/object-*:read,write,delete`)] });
      },
    });
    const { accessKeyId, secretAccessKey } = key;
    const limited = s3ServerAt({
      ...{ name: "guarded", endpoint: s3Url, accessKeyId, secretAccessKey },
      ...{ isSynced: true, bucketName: guarded },
    });
    await smallRows(context, limited, [
      { server: { ...server, name: "unguarded" }, getBar: 0.95, putBar: 0.95 },
    ]);
  } finally {
    await Promise.all(started.map(end));
  }
}
