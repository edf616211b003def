// Customer-provided keys never appear in the log or in any file of a server, even if requests are
// refused or scripts fail.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import {
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { filesWith, writtenForms } from "../../support/disk/secrecy.ts";
import { s3Scene } from "../scene.ts";

const script = `
export default {
  async fetch(request, env) {
    const ssecKey = request.headers.get("x-key");
    const key = new URL(request.url).pathname.slice(1);
    if (request.method === "PUT") await env.BUCKET.put(key, "from a script", { ssecKey });
    // The error is not caught, so that the server logs it.
    const object = await env.BUCKET.get(key, { ssecKey });
    return new Response(object.body);
  },
};`;

function keyHeaders(key: Uint8Array) {
  return {
    SSECustomerAlgorithm: "AES256",
    SSECustomerKey: Buffer.from(key).toString("base64"),
    SSECustomerKeyMD5: createHash("md5").update(key).digest("base64"),
  };
}

for (const mode of ["dev", "serve"] as const) {
  test(`store ${mode} writes no customer-provided key to its log or files`, async (t) => {
    const { client, server, data, scene } = await s3Scene(t, mode, [], script);
    const s3 = client();
    const [key, wrong, scriptKey] = [randomBytes(32), randomBytes(32), randomBytes(32)];
    const of = (name: string) => ({ Bucket: "bucket", Key: name });
    const right = keyHeaders(key);
    for (const [name, size] of [
      ["small", 100],
      ["large", 300_000],
    ] as const) {
      await s3.send(new PutObjectCommand({ ...of(name), ...right, Body: Buffer.alloc(size, name) }));
      await s3
        .send(new GetObjectCommand({ ...of(name), ...right }))
        .then(({ Body }) => Body!.transformToByteArray());
      await s3.send(new HeadObjectCommand({ ...of(name), ...right }));
    }
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ ...of("parts"), ...right }));
    const part = { ...of("parts"), UploadId, PartNumber: 1, Body: Buffer.alloc(1000, "part") };
    await s3.send(new UploadPartCommand({ ...part, ...right }));
    const source = {
      CopySource: "bucket/large",
      CopySourceSSECustomerAlgorithm: "AES256",
      CopySourceSSECustomerKey: right.SSECustomerKey,
      CopySourceSSECustomerKeyMD5: right.SSECustomerKeyMD5,
    };
    await s3.send(new CopyObjectCommand({ ...of("copy"), ...source, ...right }));

    // Requests that are refused for different reasons.
    const refusals = [
      new GetObjectCommand({ ...of("large"), ...keyHeaders(wrong) }),
      new HeadObjectCommand({ ...of("small"), ...keyHeaders(wrong) }),
      new GetObjectCommand(of("large")),
      new GetObjectCommand({ ...of("absent"), ...right }),
      new PutObjectCommand({ ...of("bad"), ...right, SSECustomerAlgorithm: "AES512", Body: "x" }),
      new PutObjectCommand({ Bucket: "no-such-bucket", Key: "x", ...right, Body: "x" }),
      new UploadPartCommand({ ...part, ...keyHeaders(wrong) }),
      new CopyObjectCommand({
        ...of("copy"),
        ...source,
        CopySourceSSECustomerKey: keyHeaders(wrong).SSECustomerKey,
      }),
    ];
    for (const command of refusals) await assert.rejects(s3.send(command as GetObjectCommand));

    const headers = { "x-key": scriptKey.toString("hex") };
    assert.equal((await server.ask({ method: "PUT", path: "/scripted", headers })).status, 200);
    const other = { "x-key": wrong.toString("hex") };
    assert.equal((await server.ask({ path: "/scripted", headers: other })).status, 500);
    assert.equal(
      (await server.ask({ path: "/scripted", headers: { "x-key": `${wrong.toString("hex")}00` } })).status,
      500,
    );

    const secrets = [key, wrong, scriptKey].flatMap(writtenForms);
    const assertNoTrace = (when: string) => {
      for (const secret of secrets)
        assert.ok(!server.log().includes(secret.toString("latin1")), `logged ${when}`);
      assert.deepEqual(filesWith(scene.directory, secrets), [], `written ${when}`);
    };
    assert.match(server.log(), /scripted|AccessDenied|Access Denied|ssecKey/, "the refusals were logged");
    assertNoTrace("while the server runs");
    await server.stop();
    assertNoTrace("after the server has stopped");
    assert.notDeepEqual(filesWith(data, [Buffer.from(createHash("md5").update(key).digest("hex"))]), []);
  });
}
