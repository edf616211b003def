// ACLs and ownership controls answer as those of a bucket of S3 whose ACLs are disabled.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CreateBucketCommand,
  DeleteBucketOwnershipControlsCommand,
  GetBucketAclCommand,
  GetBucketOwnershipControlsCommand,
  type ObjectCannedACL,
  PutBucketAclCommand,
  PutBucketOwnershipControlsCommand,
  PutObjectAclCommand,
  PutObjectCommand,
  PutPublicAccessBlockCommand,
} from "@aws-sdk/client-s3";
import { refused, s3Scene } from "../../scene.ts";

const Bucket = "bucket";

test("only ACLs that leave everything to the owner are accepted", async (t) => {
  const client = (await s3Scene(t)).client();
  const put = (ACL?: ObjectCannedACL) =>
    client.send(new PutObjectCommand({ Bucket, Key: "a", Body: "a", ACL }));
  for (const ACL of ["private", "bucket-owner-full-control"] as const) {
    await put(ACL);
    await client.send(new PutObjectAclCommand({ Bucket, Key: "a", ACL }));
  }
  await client.send(new PutBucketAclCommand({ Bucket, ACL: "private" }));
  await client.send(new CreateBucketCommand({ Bucket: "private-one", ACL: "private" }));
  for (const ACL of ["public-read", "public-read-write", "authenticated-read"] as const) {
    for (const send of [
      () => put(ACL),
      () => client.send(new PutBucketAclCommand({ Bucket, ACL })),
      () => client.send(new PutObjectAclCommand({ Bucket, Key: "a", ACL })),
      () => client.send(new CreateBucketCommand({ Bucket: "public-one", ACL })),
    ])
      await refused(send(), "AccessControlListNotSupported", 400);
  }
  const grant = new PutObjectAclCommand({ Bucket, Key: "a", GrantRead: 'uri="http://acs.amazonaws.com/x"' });
  await refused(client.send(grant), "AccessControlListNotSupported", 400);
  await refused(
    client.send(new PutObjectAclCommand({ Bucket, Key: "no", ACL: "private" })),
    "NoSuchKey",
    404,
  );
});

test("the ACL that a bucket returns can be put back, and a grant to others is refused", async (t) => {
  const client = (await s3Scene(t)).client();
  const { Owner, Grants } = await client.send(new GetBucketAclCommand({ Bucket }));
  const put = (grants: typeof Grants) =>
    client.send(new PutBucketAclCommand({ Bucket, AccessControlPolicy: { Owner, Grants: grants } }));
  await put(Grants);
  const everyone = { URI: "http://acs.amazonaws.com/groups/global/AllUsers", Type: "Group" } as const;
  const open = [...Grants!, { Grantee: everyone, Permission: "READ" } as const];
  await refused(put(open), "AccessControlListNotSupported", 400);
  await refused(put([]), "AccessControlListNotSupported", 400);
});

test("a public access block refuses public ACLs as forbidden", async (t) => {
  const client = (await s3Scene(t)).client();
  const PublicAccessBlockConfiguration = { BlockPublicAcls: true };
  await client.send(new PutPublicAccessBlockCommand({ Bucket, PublicAccessBlockConfiguration }));
  await refused(client.send(new PutBucketAclCommand({ Bucket, ACL: "public-read" })), "AccessDenied", 403);
});

test("the bucket owner owns every object, and no other ownership can be set", async (t) => {
  const client = (await s3Scene(t)).client();
  const put = (ObjectOwnership: "BucketOwnerEnforced" | "ObjectWriter") => {
    const OwnershipControls = { Rules: [{ ObjectOwnership }] };
    return client.send(new PutBucketOwnershipControlsCommand({ Bucket, OwnershipControls }));
  };
  await put("BucketOwnerEnforced");
  await refused(put("ObjectWriter"), "InvalidRequest", 400);
  const get = () => client.send(new GetBucketOwnershipControlsCommand({ Bucket }));
  assert.equal((await get()).OwnershipControls?.Rules?.[0]?.ObjectOwnership, "BucketOwnerEnforced");
  await client.send(new DeleteBucketOwnershipControlsCommand({ Bucket }));
});
