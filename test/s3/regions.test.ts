// Regions of signatures and of buckets, and the errors of clients that sign with version 2.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type DirectScene, directScene } from "./direct.ts";
import { boundary, encodeForm } from "./form.ts";

function create({ ask }: DirectScene, path: string, location: string) {
  const constraint = `<LocationConstraint>${location}</LocationConstraint>`;
  const body = Buffer.from(`<CreateBucketConfiguration>${constraint}</CreateBucketConfiguration>`);
  return ask({ method: "PUT", path, body });
}

/** Returns the region in GetBucketLocation and in HeadBucket. */
async function locate({ ask }: DirectScene, path: string) {
  const { text } = await ask({ method: "GET", path, query: [["location", ""]] });
  const { headers } = await ask({ method: "HEAD", path });
  return [/<LocationConstraint[^>]*>([^<]*)</.exec(text)?.[1] ?? "", headers["x-amz-bucket-region"]];
}

test("a client may sign with any region, and a bucket keeps the region it was created with", async (t) => {
  const scene = await directScene(t);
  const { ask, key } = scene;
  for (const [location, shown] of [
    ["eu-central-1", ["eu-central-1", "eu-central-1"]],
    ["EU", ["EU", "EU"]],
    ["us-east-1", ["", "us-east-1"]],
    ["auto", ["auto", "auto"]],
    ["", ["auto", "auto"]],
  ] as const) {
    const path = `/in-${location.toLowerCase()}-`.replace(/-$/, "x");
    assert.equal((await create(scene, path, location)).status, 200, location);
    assert.deepEqual(await locate(scene, path), shown);
    for (const region of ["eu-central-1", "us-east-1", "s3.example.com", "127.0.0.1", "auto", ""]) {
      for (const form of ["header", "query"] as const) {
        const put = { method: "PUT", path: `${path}/a`, body: Buffer.from("a") };
        assert.equal((await ask(put, { key, region, form })).status, 200, `${region} in the ${form}`);
      }
    }
  }
  for (const region of ["eu central", "x".repeat(64), "-eu", "eu/central"]) {
    const signed = await ask({ method: "GET", path: "/" }, { region });
    assert.deepEqual([signed.status, signed.code], [400, "AuthorizationHeaderMalformed"], region);
    const created = await create(scene, "/refused", region);
    assert.deepEqual([created.status, created.code], [400, "InvalidLocationConstraint"], region);
  }
});

test("creating one's own bucket again is refused in regions other than us-east-1", async (t) => {
  const scene = await directScene(t);
  for (const [path, location, code] of [
    ["/default", "", undefined],
    ["/virginia", "us-east-1", undefined],
    ["/store", "auto", undefined],
    ["/frankfurt", "eu-central-1", "BucketAlreadyOwnedByYou"],
  ] as const) {
    assert.equal((await create(scene, path, location)).status, 200, path);
    const again = await create(scene, path, location);
    assert.deepEqual([again.status, again.code], [code === undefined ? 200 : 409, code], path);
  }
});

test("a server that is configured with a region refuses every other", async (t) => {
  const scene = await directScene(t, { region: "eu-central-1" });
  const { ask } = scene;
  for (const region of ["eu-central-1", "auto", ""])
    assert.equal((await ask({ method: "GET", path: "/" }, { region })).status, 200, region);
  const other = await ask({ method: "GET", path: "/" }, { region: "us-east-1" });
  assert.deepEqual([other.status, other.code], [400, "AuthorizationHeaderMalformed"]);
  // SDKs try again with the region that the error names.
  assert.match(other.text, /<Region>eu-central-1<\/Region>/);
  assert.equal((await create(scene, "/other", "us-west-2")).code, "InvalidLocationConstraint");
  assert.equal((await create(scene, "/photos", "")).status, 200);
  assert.deepEqual(await locate(scene, "/photos"), ["eu-central-1", "eu-central-1"]);
});

test("a signature of version 2 is refused with the setting that cures it", async (t) => {
  const { send } = await directScene(t);
  const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
  const fields = [
    ["key", "a"],
    ["AWSAccessKeyId", "STOREABCDEFGHIJKLMNO"],
    ["policy", "e30="],
    ["signature", "abc="],
  ] as const;
  const expires = String(Math.floor(Date.now() / 1000) + 60);
  const query = Object.entries({ AWSAccessKeyId: "STOREA", Signature: "abc=", Expires: expires });
  for (const request of [
    { method: "GET", path: "/photos/a", query },
    { method: "GET", path: "/photos/a", headers: { authorization: "AWS STOREA:abc=" } },
    { method: "POST", path: "/photos", headers, body: Buffer.from(encodeForm(fields)) },
  ]) {
    const { status, code, text } = await send(request);
    assert.deepEqual([status, code], [400, "InvalidRequest"]);
    assert.match(text, /AWS4-HMAC-SHA256: .*Signature Version 4 .*signature_version=.*region "auto"/);
  }
});
