// CreateBucket with Object Lock, tags and ownership.
import assert from "node:assert/strict";
import { test } from "node:test";
import { directScene } from "../direct.ts";

test("CreateBucket with Object Lock creates a versioned bucket in which versions can be locked", async (t) => {
  const { ask, engine } = await directScene(t);
  const create = (bucket: string, value: string) =>
    ask({ method: "PUT", path: `/${bucket}`, headers: { "x-amz-bucket-object-lock-enabled": value } });
  for (const [i, value] of ["false", "False"].entries()) {
    assert.equal((await create(`photos-${i}`, value)).status, 200);
    assert.notEqual(await engine.bucket(`photos-${i}`), undefined);
  }
  assert.equal((await create("locked", "true")).status, 200);
  const { versioning, objectLock } = (await engine.bucket("locked"))!.settings;
  assert.deepEqual({ versioning, objectLock }, { versioning: "on", objectLock: {} });
  assert.equal((await create("locked", "true")).status, 200);
  const existing = await create("photos-0", "true");
  assert.deepEqual([existing.status, existing.code], [409, "InvalidBucketState"]);
  const invalid = await create("odd", "maybe");
  assert.deepEqual([invalid.status, invalid.code], [400, "InvalidArgument"]);
  assert.equal(await engine.bucket("odd"), undefined);
});

test("CreateBucket sets tags, and creates no bucket if a tag or the ownership is invalid", async (t) => {
  const { ask, engine } = await directScene(t);
  const own = (value: string) =>
    ask({ method: "PUT", path: "/owned", headers: { "x-amz-object-ownership": value } });
  const invalid = await own("Nobody");
  assert.deepEqual([invalid.status, invalid.code], [400, "InvalidArgument"]);
  const createTagged = (path: string, key: string) => {
    const tags = `<Tags><Tag><Key>${key}</Key><Value>b</Value></Tag></Tags>`;
    const body = Buffer.from(`<CreateBucketConfiguration>${tags}</CreateBucketConfiguration>`);
    return ask({ method: "PUT", path, body });
  };
  const reserved = await createTagged("/reserved", "aws:a");
  assert.deepEqual([reserved.status, reserved.code], [400, "InvalidTag"]);
  assert.deepEqual(await engine.listBuckets(), []);
  assert.equal((await createTagged("/tagged", "a")).status, 200);
  assert.deepEqual((await engine.bucket("tagged"))?.settings.tags, [["a", "b"]]);
  assert.equal((await own("BucketOwnerEnforced")).status, 200);
});
