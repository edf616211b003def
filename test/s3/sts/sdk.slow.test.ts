// The credential providers of the AWS SDK against a served store: temporary credentials made by the
// command line, by a script and by STS.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3ClientConfig,
} from "@aws-sdk/client-s3";
import {
  fromProcess,
  fromTemporaryCredentials,
  fromTokenFile,
  fromWebToken,
} from "@aws-sdk/credential-providers";
import { createPresignedPost } from "@aws-sdk/s3-presigned-post";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { signToken, startFakeProvider } from "../../oidc/fake-provider.ts";
import { type Key, refused, type S3Scene, s3Scene } from "../scene.ts";

const source = `
export default {
  async fetch(request, env) {
    return Response.json(await env.BUCKET.temporaryCredentials({ prefix: "in/", rights: ["read", "write"] }));
  },
};`;

type CredentialsOption = NonNullable<S3ClientConfig["credentials"]>;

/** Reads and writes below in/, and is refused elsewhere. */
async function useCredentials(s3: S3Scene, credentials: CredentialsOption): Promise<void> {
  const client = s3.client(s3.key, { credentials });
  await client.send(new PutObjectCommand({ Bucket: "bucket", Key: "in/new", Body: "new" }));
  const { Body } = await client.send(new GetObjectCommand({ Bucket: "bucket", Key: "in/new" }));
  assert.equal(await Body!.transformToString(), "new");
  await refused(client.send(new GetObjectCommand({ Bucket: "bucket", Key: "out/a" })), "AccessDenied", 403);
  await refused(client.send(new ListObjectsV2Command({ Bucket: "bucket" })), "AccessDenied", 403);
  await refused(client.send(new DeleteObjectCommand({ Bucket: "bucket", Key: "in/new" })), "AccessDenied");
  const command = new GetObjectCommand({ Bucket: "bucket", Key: "in/new" });
  const url = await getSignedUrl(client, command, { expiresIn: 60 });
  assert.equal(await (await fetch(url)).text(), "new", "a URL presigned with temporary credentials");
  const post = await createPresignedPost(client, { Bucket: "bucket", Key: "in/form", Expires: 60 });
  const form = new FormData();
  for (const [name, value] of Object.entries(post.fields)) form.set(name, value);
  form.set("file", new Blob(["form"]));
  assert.equal((await fetch(post.url, { method: "POST", body: form })).status, 204, "a form");
}

test("the AWS SDK works with temporary credentials from every provider", async (t) => {
  const s3 = await s3Scene(t, "serve", [], source);
  const { shell } = s3.scene;
  await s3.client().send(new PutObjectCommand({ Bucket: "bucket", Key: "out/a", Body: "a" }));
  const grant = ["--grant", "bucket/in/*:read,write"];
  const store = async (...args: string[]) => {
    const { code, stdout, stderr } = await shell.run([...args, "--data", s3.data, "--json"]);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as Record<string, string>;
  };
  const clientConfig = { endpoint: s3.url, region: "us-east-1" };

  await t.test("static credentials of store key temp", async () => {
    const made = await store("key", "temp", "--key", s3.key.accessKeyId, ...grant);
    await useCredentials(s3, {
      accessKeyId: made.AccessKeyId!,
      secretAccessKey: made.SecretAccessKey!,
      sessionToken: made.SessionToken!,
    });
  });

  await t.test("credentials that a script made with temporaryCredentials", async () => {
    const made = (await (await fetch(s3.server.url)).json()) as Required<Key> & { endpoint: string };
    assert.equal(made.endpoint, s3.url);
    await useCredentials(s3, made as never);
  });

  const secretFile = join(s3.scene.directory, "secret.txt");
  await writeFile(secretFile, `${s3.key.secretAccessKey}\n`);
  await t.test("credentials made offline, from the id and secret of an access key", async () => {
    const { code, stdout, stderr } = await shell.run([
      ...[
        "key",
        "temp",
        "--parent-id",
        s3.key.accessKeyId,
        "--parent-secret-file",
        secretFile,
        ...grant,
        "--env",
      ],
    ]);
    assert.equal(code, 0, stderr);
    const variable = (name: string) => new RegExp(`^export ${name}=(.+)$`, "m").exec(stdout)![1]!;
    await useCredentials(s3, {
      accessKeyId: variable("AWS_ACCESS_KEY_ID"),
      secretAccessKey: variable("AWS_SECRET_ACCESS_KEY"),
      sessionToken: variable("AWS_SESSION_TOKEN"),
    });
  });

  const provider = await startFakeProvider(t);
  await store(
    ...["role", "create", "deploy", ...grant, "--trust-account", "default", "--trust-oidc", provider.issuer],
    ...["--audience", "store", "--claim", "sub=repo:*"],
  );
  const RoleArn = "arn:aws:iam::default:role/deploy";

  await t.test("fromTemporaryCredentials assumes a role", async () => {
    const { accessKeyId, secretAccessKey } = s3.key;
    await useCredentials(
      s3,
      fromTemporaryCredentials({
        masterCredentials: { accessKeyId, secretAccessKey },
        params: { RoleArn, RoleSessionName: "sdk" },
        clientConfig,
      }),
    );
  });

  const token = await signToken(provider, { claims: { aud: "store", sub: "repo:site" } });
  await t.test("fromWebToken exchanges an ID token", async () => {
    const options = { roleArn: RoleArn, webIdentityToken: token, roleSessionName: "sdk", clientConfig };
    await useCredentials(s3, fromWebToken(options));
  });

  await t.test("fromTokenFile exchanges the ID token in a file", async () => {
    const webIdentityTokenFile = join(s3.scene.directory, "token.txt");
    await writeFile(webIdentityTokenFile, token);
    await useCredentials(s3, fromTokenFile({ webIdentityTokenFile, roleArn: RoleArn, clientConfig }));
  });

  await t.test("fromProcess runs store key temp", async () => {
    const config = join(s3.scene.directory, "aws-config");
    const program = join(import.meta.dirname, "../../../src/cli/main.js");
    const command = `${process.execPath} ${program} key temp --key ${s3.key.accessKeyId} --data ${s3.data} --json`;
    await writeFile(
      config,
      `[profile store]\ncredential_process = ${command} --grant bucket/in/*:read,write\n`,
    );
    await useCredentials(s3, fromProcess({ profile: "store", configFilepath: config, filepath: config }));
  });

  await t.test("a deleted role ends its credentials at the next request, in all processes", async () => {
    const credentials = await fromWebToken({
      ...{ roleArn: RoleArn, webIdentityToken: token, roleSessionName: "sdk", clientConfig },
    })();
    const client = s3.client(s3.key, { credentials });
    const get = () => client.send(new GetObjectCommand({ Bucket: "bucket", Key: "in/new" }));
    await get();
    await store("role", "delete", "deploy");
    for (let i = 0; i < 8; i++) await refused(get(), "InvalidAccessKeyId", 403);
  });
});
