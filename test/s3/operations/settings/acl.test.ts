// Canned ACLs are accepted without effect, and ownership controls are stored.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { GetBucketAclCommand, ObjectCannedACL, PutBucketAclCommand } from "@aws-sdk/client-s3";
import type { S3Options } from "../../../../src/s3/handler.ts";
import { type DirectAnswer, type DirectScene, directScene } from "../../direct.ts";
import { boundary, encodeForm, signedFields } from "../../form.ts";
import { refused, s3Scene } from "../../scene.ts";
import { assertRefused, texts } from "../../versioned.ts";

const cannedAcls = Object.values(ObjectCannedACL);
const publicAcls: readonly string[] = ["public-read", "public-read-write", "authenticated-read"];

type Query = readonly (readonly [string, string])[];

interface AclScene extends DirectScene {
  /** Sends a request to the bucket, or to the object `a` in it. */
  on(target: "bucket" | "object", method: string, query?: Query, body?: string): Promise<DirectAnswer>;
}

async function aclScene(t: TestContext, options?: Partial<S3Options>): Promise<AclScene> {
  const scene = await directScene(t, options);
  await scene.engine.createBucket("photos");
  for (const key of ["a", "source"]) await scene.engine.put("photos", key, Buffer.from("a"));
  return {
    ...scene,
    on: (target, method, query = [], body) =>
      scene.ask({
        ...{ method, path: target === "bucket" ? "/photos" : "/photos/a", query },
        ...(body === undefined ? {} : { body: Buffer.from(body) }),
      }),
  };
}

/** Sends every request on the bucket that can carry the headers of an ACL. */
function sendAll({ ask }: DirectScene, headers: Record<string, string>): Promise<DirectAnswer[]> {
  const [acl, uploads]: Query[] = [[["acl", ""]], [["uploads", ""]]];
  const copy = { ...headers, "x-amz-copy-source": "/photos/source" };
  return Promise.all([
    ask({ method: "PUT", path: "/photos/a", headers, body: Buffer.from("a") }),
    ask({ method: "PUT", path: "/photos/a", headers: copy }),
    ask({ method: "POST", path: "/photos/a", headers, query: uploads! }),
    ask({ method: "PUT", path: "/photos/a", headers, query: acl! }),
    ask({ method: "PUT", path: "/photos", headers, query: acl! }),
  ]);
}

function createWith({ ask }: DirectScene, headers: Record<string, string>): Promise<DirectAnswer> {
  return ask({ method: "PUT", path: `/new-${headers["x-amz-acl"]}`, headers });
}

test("every canned ACL is accepted, and none gives anybody access", async (t) => {
  const scene = await aclScene(t);
  const { on, ask, send, newKey } = scene;
  const stranger = await newKey({ account: "other" });
  for (const acl of cannedAcls) {
    const headers = { "x-amz-acl": acl };
    for (const { status, text } of await sendAll(scene, headers)) assert.equal(status, 200, text);
    assert.equal((await createWith(scene, headers)).status, 200);
    for (const target of ["bucket", "object"] as const) {
      const { text } = await on(target, "GET", [["acl", ""]]);
      assert.deepEqual(texts(text, "Permission"), ["FULL_CONTROL"]);
      assert.equal(new Set(texts(text, "ID")).size, 1, "the owner is the only grantee");
    }
    const get = { method: "GET", path: "/photos/a" };
    assertRefused(await send(get), [403, "AccessDenied"]);
    assertRefused(await ask(get, { key: stranger }), [403, "AccessDenied"]);
  }
  const unknown = { "x-amz-acl": "public" };
  for (const answer of await sendAll(scene, unknown)) assertRefused(answer, [400, "InvalidArgument"]);
  assertRefused(await createWith(scene, unknown), [400, "InvalidArgument"]);
});

test("a public access block of the bucket or the server refuses public canned ACLs", async (t) => {
  const [byBucket, byServer] = [await aclScene(t), await aclScene(t, { blocksPublicAccess: true })];
  const body =
    "<PublicAccessBlockConfiguration><BlockPublicAcls>true</BlockPublicAcls></PublicAccessBlockConfiguration>";
  assert.equal((await byBucket.on("bucket", "PUT", [["publicAccessBlock", ""]], body)).status, 200);
  for (const acl of cannedAcls) {
    const headers = { "x-amz-acl": acl };
    const answers = [
      ...(await sendAll(byBucket, headers)),
      ...(await sendAll(byServer, headers)),
      await createWith(byServer, headers),
    ];
    const expected = publicAcls.includes(acl) ? [403, "AccessDenied"] : [200, undefined];
    for (const { status, code } of answers) assert.deepEqual([status, code], expected, acl);
  }
});

test("grants to others are refused by name, in headers and in documents", async (t) => {
  const scene = await aclScene(t);
  const { on } = scene;
  for (const right of ["read", "write", "read-acp", "write-acp", "full-control"]) {
    for (const answer of await sendAll(scene, { [`x-amz-grant-${right}`]: 'id="abc"' }))
      assertRefused(answer, [400, "AccessControlListNotSupported"]);
  }
  for (const target of ["bucket", "object"] as const) {
    const acl: Query = [["acl", ""]];
    const { text: own } = await on(target, "GET", acl);
    assert.equal((await on(target, "PUT", acl, own)).status, 200, "the ACL that was returned");
    const everyone = "<Grantee><URI>http://acs.amazonaws.com/groups/global/AllUsers</URI></Grantee>";
    const open = own.replace("</Grant>", `</Grant><Grant>${everyone}<Permission>READ</Permission></Grant>`);
    assertRefused(await on(target, "PUT", acl, open), [400, "AccessControlListNotSupported"]);
    const none = own.replace(/<Grant>.*<\/Grant>/s, "");
    assertRefused(await on(target, "PUT", acl, none), [400, "AccessControlListNotSupported"]);
    assertRefused(await on(target, "PUT", acl), [400, "MissingSecurityHeader"]);
  }
});

test("a form may have a canned ACL", async (t) => {
  const { send, on, key } = await aclScene(t);
  const post = (acl: string) => {
    const conditions = [["starts-with", "$key", ""], { "x-amz-meta-tag": "one" }, { acl }];
    const fields = [...signedFields({ key, bucket: "photos", conditions }), ["acl", acl] as const];
    const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
    return send({ method: "POST", path: "/photos", headers, body: Buffer.from(encodeForm(fields)) });
  };
  assert.equal((await post("public-read")).status, 204);
  assertRefused(await post("nobody"), [400, "InvalidArgument"]);
  const body =
    "<PublicAccessBlockConfiguration><BlockPublicAcls>true</BlockPublicAcls></PublicAccessBlockConfiguration>";
  assert.equal((await on("bucket", "PUT", [["publicAccessBlock", ""]], body)).status, 200);
  assertRefused(await post("public-read"), [403, "AccessDenied"]);
});

test("ownership controls are stored, and BucketOwnerEnforced refuses requests with an ACL", async (t) => {
  const scene = await aclScene(t);
  const { on, ask } = scene;
  const controls: Query = [["ownershipControls", ""]];
  const put = (...names: string[]) => {
    const rules = names.map((name) => `<Rule><ObjectOwnership>${name}</ObjectOwnership></Rule>`).join("");
    return on("bucket", "PUT", controls, `<OwnershipControls>${rules}</OwnershipControls>`);
  };
  assertRefused(await on("bucket", "GET", controls), [404, "OwnershipControlsNotFoundError"]);
  for (const name of ["ObjectWriter", "BucketOwnerPreferred", "BucketOwnerEnforced"]) {
    assert.equal((await put(name)).status, 200);
    const path = `/with-${name.toLowerCase()}`;
    const headers = { "x-amz-object-ownership": name, "x-amz-acl": "private" };
    assert.equal((await ask({ method: "PUT", path, headers })).status, 200);
    for (const { text } of [
      await on("bucket", "GET", controls),
      await ask({ method: "GET", path, query: controls }),
    ])
      assert.deepEqual(texts(text, "ObjectOwnership"), [name]);
  }
  assertRefused(await put("Nobody"), [400, "MalformedXML"]);
  assertRefused(await put("ObjectWriter", "ObjectWriter"), [400, "MalformedXML"]);
  for (const acl of cannedAcls) {
    for (const answer of await sendAll(scene, { "x-amz-acl": acl })) {
      const { status, code } = answer;
      if (acl === "bucket-owner-full-control") assert.equal(status, 200);
      else assert.deepEqual([status, code], [400, "AccessControlListNotSupported"]);
    }
  }
  const open = { "x-amz-object-ownership": "BucketOwnerEnforced", "x-amz-acl": "public-read" };
  assertRefused(await createWith(scene, open), [400, "InvalidBucketAclWithObjectOwnership"]);
  for (const _ of ["first", "repeated"]) {
    assert.equal((await on("bucket", "DELETE", controls)).status, 204);
    assertRefused(await on("bucket", "GET", controls), [404, "OwnershipControlsNotFoundError"]);
  }
  for (const { status } of await sendAll(scene, { "x-amz-acl": "public-read" })) assert.equal(status, 200);
});

test("an SDK can put back the ACL that a bucket returns, and is told that no other is supported", async (t) => {
  const client = (await s3Scene(t)).client();
  const Bucket = "bucket";
  const { Owner, Grants } = await client.send(new GetBucketAclCommand({ Bucket }));
  const put = (grants: typeof Grants) =>
    client.send(new PutBucketAclCommand({ Bucket, AccessControlPolicy: { Owner, Grants: grants } }));
  await put(Grants);
  await refused(put([]), "AccessControlListNotSupported", 400);
});
