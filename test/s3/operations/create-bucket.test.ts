// CreateBucket accepts or refuses headers and documents for features that Store does not have.
import assert from "node:assert/strict";
import { test } from "node:test";
import { directScene } from "../direct.ts";

test("CreateBucket is accepted with object lock disabled and refused with object lock enabled", async (t) => {
  const { ask, engine } = await directScene(t);
  const create = (bucket: string, value: string) =>
    ask({ method: "PUT", path: `/${bucket}`, headers: { "x-amz-bucket-object-lock-enabled": value } });
  for (const [i, value] of ["false", "False"].entries()) {
    assert.equal((await create(`photos-${i}`, value)).status, 200);
    assert.notEqual(await engine.bucket(`photos-${i}`), undefined);
  }
  const refused = await create("locked", "true");
  assert.deepEqual([refused.status, refused.code], [501, "NotImplemented"]);
  assert.equal(await engine.bucket("locked"), undefined);
});

test("CreateBucket with tags or an invalid ownership is refused, and creates no bucket", async (t) => {
  const { ask, engine } = await directScene(t);
  const own = (value: string) =>
    ask({ method: "PUT", path: "/owned", headers: { "x-amz-object-ownership": value } });
  const invalid = await own("Nobody");
  assert.deepEqual([invalid.status, invalid.code], [400, "InvalidArgument"]);
  const tags = "<Tags><Tag><Key>a</Key><Value>b</Value></Tag></Tags>";
  const body = Buffer.from(`<CreateBucketConfiguration>${tags}</CreateBucketConfiguration>`);
  const tagged = await ask({ method: "PUT", path: "/tagged", body });
  assert.deepEqual([tagged.status, tagged.code], [501, "NotImplemented"]);
  assert.deepEqual(
    (await engine.listBuckets()).filter(({ name }) => name === "owned" || name === "tagged"),
    [],
  );
  assert.equal((await own("BucketOwnerEnforced")).status, 200);
});
