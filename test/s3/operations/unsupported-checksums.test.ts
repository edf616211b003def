// Checksums of algorithms that Store cannot compute.
import assert from "node:assert/strict";
import { test } from "node:test";
import { boundary, encodeForm, signedFields } from "../form.ts";
import { assertRefused, bucket, versionedScene } from "../versioned.ts";

const unsupported = ["md4", "xxhash32", "unknown"];

test("a checksum that cannot be verified is refused in a header, a trailer and a form", async (t) => {
  const { request, send, key } = await versionedScene(t, "plain");
  const post = (name: string) => {
    const conditions = [["starts-with", "$key", ""], { [name]: "AAAA" }, { "x-amz-meta-tag": "one" }];
    const fields = [...signedFields({ key, bucket, conditions }), [name, "AAAA"] as const];
    const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
    return send({ method: "POST", path: `/${bucket}`, headers, body: Buffer.from(encodeForm(fields)) });
  };
  for (const algorithm of unsupported) {
    const name = `x-amz-checksum-${algorithm}`;
    const put = await request("PUT", "a", { body: "one", headers: { [name]: "AAAA" } });
    assertRefused(put, [400, "InvalidRequest"]);
    const trailing = await request("PUT", "a", { body: "one", headers: { "x-amz-trailer": name } });
    assertRefused(trailing, [400, "InvalidRequest"]);
    assertRefused(await post(name), [400, "InvalidRequest"]);
  }
  assert.equal((await request("GET", "a")).status, 404, "nothing was stored");
  assert.equal((await request("GET", "form/upload")).status, 404, "nothing was stored by the form");
});
