// Tries every S3 operation with access keys of limited rights, by signed headers, presigned URLs,
// forms and copy sources, and with a grant on a deleted bucket that another account recreated.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { operationRights } from "../../src/s3/operation-rights.ts";
import { encodeForm, postForm, signedFields } from "../s3/form.ts";
import { type Raw, sendRaw, signRaw } from "../s3/raw.ts";
import type { Key } from "../s3/scene.ts";
import { type Requests, requestsFor } from "./operations.ts";
import { openTarget, snapshot, type Target } from "./target.ts";

const rights = ["none", "read", "write", "list", "delete", "admin"] as const;
type GivenRight = (typeof rights)[number];

function isAllowed(name: keyof Requests, right: GivenRight): boolean {
  const { on, right: required } = operationRights[name];
  // Every key may list the buckets it has rights on; creating a bucket requires admin.
  if (on === "account") return name === "ListBuckets" || right === "admin";
  if (right === "admin") return true;
  // A copy requires both the right to read and the right to write; these keys have at most one.
  if (name === "CopyObject" || name === "UploadPartCopy") return false;
  return required === right;
}

/** Creates a bucket with an object and an upload, and a request for every operation on them. */
async function prepare({ call }: Target, bucket: string): Promise<Requests> {
  const callOk = async (raw: Raw) => {
    const answer = await call(raw);
    assert.equal(answer.status, 200, answer.text);
    return answer.text;
  };
  await callOk({ method: "PUT", path: `/${bucket}` });
  for (const key of ["there", "source"]) {
    await callOk({ method: "PUT", path: `/${bucket}/${key}`, body: Buffer.from(key) });
  }
  const created = await callOk({ method: "POST", path: `/${bucket}/there`, query: [["uploads", ""]] });
  const uploadId = /<UploadId>(\w+)</.exec(created)![1]!;
  return requestsFor({ bucket, key: "there", uploadId, copySource: `/${bucket}/source` });
}

async function makeKeys({ newKey }: Target, bucket: string): Promise<Record<GivenRight, Key>> {
  const grant = (text: string) => newKey("--grant", text);
  return {
    none: await grant("elsewhere:admin"),
    read: await grant(`${bucket}:read`),
    write: await grant(`${bucket}:write`),
    list: await grant(`${bucket}:list`),
    delete: await grant(`${bucket}:delete`),
    admin: await grant(`${bucket}:admin`),
  };
}

const customerKey = Buffer.alloc(32, "k");
function customerHeaders(prefix: string): Record<string, string> {
  return {
    [`${prefix}-algorithm`]: "AES256",
    [`${prefix}-key`]: customerKey.toString("base64"),
    [`${prefix}-key-md5`]: createHash("md5").update(customerKey).digest("base64"),
  };
}

test("an access key allows exactly the operations of its grants", async (t) => {
  const target = await openTarget(t);
  const { url } = target;
  const requests = await prepare(target, "guarded");
  for (const path of ["/elsewhere", "/mine"])
    assert.equal((await target.call({ method: "PUT", path })).status, 200);
  const keys = await makeKeys(target, "guarded");
  const before = await snapshot(target, "guarded");

  for (const form of ["header", "query"] as const) {
    for (const right of rights) {
      const refusals = (Object.keys(requests) as (keyof Requests)[]).filter(
        (name) => !isAllowed(name, right),
      );
      await t.test(
        `a ${form} signature of a key with right "${right}" is refused for operations that need another right`,
        async () => {
          for (const name of refusals) {
            const answer = await sendRaw(url, signRaw(url, requests[name], { key: keys[right], form }));
            assert.equal(answer.status, 403, `${name} with ${right}: ${answer.status} ${answer.text}`);
          }
        },
      );
    }
  }
  for (const right of ["none", "read", "list"] as const) {
    await t.test(`a POST form signed by a key with right "${right}" is refused`, async () => {
      const fields = signedFields({ key: keys[right], bucket: "guarded" });
      assert.equal((await postForm(url, "guarded", encodeForm(fields))).status, 403);
    });
  }
  await t.test(
    "a copy requires the right to read its source, also with a customer-provided key",
    async () => {
      const own = await target.newKey("--grant", "mine:admin");
      for (const more of [{}, customerHeaders("x-amz-copy-source-server-side-encryption-customer")]) {
        for (const source of [
          "/guarded/there",
          "guarded/there",
          "/guarded%2Fthere",
          "/mine/../guarded/there",
        ]) {
          const headers = { "x-amz-copy-source": source, ...more };
          const raw = { method: "PUT", path: "/mine/copy", headers };
          const { status } = await sendRaw(url, signRaw(url, raw, { key: own, form: "header" }));
          assert.ok(status === 403 || status === 404, `${source}: ${status}`);
        }
      }
      assert.equal((await target.call({ method: "HEAD", path: "/mine/copy" })).status, 404);
    },
  );
  assert.equal(await snapshot(target, "guarded"), before, "nothing has changed");

  await t.test("an access key can use every operation that its grant allows", async () => {
    for (const right of rights) {
      // Deletes come last: the other operations need the object and the upload.
      const allowed = (Object.keys(requests) as (keyof Requests)[])
        .filter((name) => isAllowed(name, right))
        .sort((a, b) => Number(/Delete|Abort/.test(a)) - Number(/Delete|Abort/.test(b)));
      for (const name of allowed) {
        const answer = await sendRaw(url, signRaw(url, requests[name], { key: keys[right], form: "header" }));
        assert.notEqual(answer.status, 403, `${name} with ${right}: ${answer.text}`);
      }
    }
  });

  await t.test(
    "a grant on a deleted bucket does not apply to another account's new bucket of the same name",
    async () => {
      const stranger = await target.newKey("--account", "stranger");
      const asStranger = (raw: Raw) => sendRaw(url, signRaw(url, raw, { key: stranger, form: "header" }));
      assert.equal((await target.call({ method: "PUT", path: "/reborn" })).status, 200);
      const holder = await target.newKey("--grant", "reborn:admin");
      const asHolder = (raw: Raw) => sendRaw(url, signRaw(url, raw, { key: holder, form: "header" }));
      assert.equal((await asHolder({ method: "GET", path: "/reborn" })).status, 200);
      assert.equal((await target.call({ method: "DELETE", path: "/reborn" })).status, 204);
      assert.equal((await asStranger({ method: "PUT", path: "/reborn" })).status, 200);
      const secret = { path: "/reborn/secret", body: Buffer.from("secret") };
      assert.equal((await asStranger({ method: "PUT", ...secret })).status, 200);
      for (const [method, path] of [
        ["GET", "/reborn/secret"],
        ["GET", "/reborn"],
        ["DELETE", "/reborn/secret"],
        ["PUT", "/reborn/planted"],
      ] as const) {
        const { status } = await asHolder({ method, path });
        assert.equal(status, 403, `${method} ${path}: ${status}`);
      }
    },
  );
  target.assertSameProcesses();
});
