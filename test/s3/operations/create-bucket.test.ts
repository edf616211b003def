// CreateBucket accepts or refuses headers for object lock.
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
