// End-to-end tests of examples: Basic authentication, a pre-shared key and multipart uploads. They
// run in each tier.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleBytes } from "../support/bytes.ts";
import { example } from "./scene.ts";
import type { Tier } from "./tier.ts";

export function testExamples(tier: Tier): void {
  test(
    `examples/basic-auth serves the bucket only with the right name and password${tier.suffix}`,
    tier.needs,
    async (t) => {
      const scene = await tier.open(t);
      const configs = [example("basic-auth")];
      await scene.secret("PASSWORD", "pässword", configs[0]);
      const { ask } = await scene.start("serve", { configs });
      const basic = (credentials: string) => ({
        Authorization: `Basic ${Buffer.from(credentials).toString("base64")}`,
      });
      await scene.write("page.html", "<p>hello</p>");
      await scene.shell.store("object", "put", "basic-auth/page.html", "page.html");

      for (const [what, headers] of Object.entries({
        "no header": {},
        "another scheme": { Authorization: "Bearer abc" },
        "a wrong password": basic("admin:password"),
        "a wrong name": basic("root:pässword"),
        "no password": basic("admin"),
      })) {
        const { status, text, headers: got } = await ask({ path: "/page.html", headers });
        assert.deepEqual([status, text], [401, "Unauthorized"], what);
        assert.equal(got["www-authenticate"], 'Basic realm="bucket", charset="UTF-8"', what);
      }

      const headers = basic("admin:pässword");
      const found = await ask({ path: "/page.html", headers });
      assert.deepEqual([found.status, found.text], [200, "<p>hello</p>"]);
      assert.match(found.headers["content-type"]!, /^text\/html/);
      assert.match(found.headers.etag!, /^"[0-9a-f]{32}"$/);
      assert.equal((await ask({ path: "/none", headers })).status, 404);
      const refused = await ask({ method: "PUT", path: "/page.html", headers, body: "x" });
      assert.deepEqual([refused.status, refused.headers.allow], [405, "GET"]);
    },
  );

  test(
    `examples/basic-auth without its secret refuses every request${tier.suffix}`,
    tier.needs,
    async (t) => {
      const scene = await tier.open(t);
      const { ask } = await scene.start("serve", { configs: [example("basic-auth")] });
      for (const credentials of ["admin:", "admin:undefined", ":"]) {
        const headers = { Authorization: `Basic ${Buffer.from(credentials).toString("base64")}` };
        assert.equal((await ask({ path: "/", headers })).status, 401, credentials);
      }
    },
  );

  test(`examples/pre-shared-key serves only requests with the key${tier.suffix}`, tier.needs, async (t) => {
    const scene = await tier.open(t);
    const configs = [example("pre-shared-key")];
    await scene.secret("PRE_SHARED_KEY", "open sesame", configs[0]);
    const { ask } = await scene.start("serve", { configs });
    const path = "/treasure";
    for (const headers of [{}, { "X-Pre-Shared-Key": "open barley" }, { "X-Pre-Shared-Key": "" }]) {
      for (const method of ["GET", "PUT", "DELETE"]) {
        const { status, text } = await ask({ method, path, headers });
        assert.deepEqual([status, text], [403, "Forbidden"]);
      }
    }
    const headers = { "x-pre-shared-key": "open sesame" };
    const put = await ask({ method: "PUT", path, headers, body: "gold" });
    assert.equal(put.status, 201);
    assert.deepEqual(JSON.parse(put.text), { key: "treasure", etag: "e07e81c20cf5935f5225765f0af81755" });
    assert.equal((await ask({ path, headers })).text, "gold");
    assert.equal((await ask({ path: "/none", headers })).status, 404);
    const refused = await ask({ method: "DELETE", path, headers });
    assert.deepEqual([refused.status, refused.headers.allow], [405, "PUT, GET"]);
  });

  test(
    `examples/multipart uploads parts in any order, completes and aborts uploads${tier.suffix}`,
    tier.needs,
    async (t) => {
      const scene = await tier.open(t);
      const { ask } = await scene.start("serve", { configs: [example("multipart")] });
      const create = async (key: string) => {
        const { text } = await ask({ method: "POST", path: `/${key}?action=create` });
        const created = JSON.parse(text) as { key: string; uploadId: string };
        assert.equal(created.key, key);
        return created.uploadId;
      };
      const size = 5 * 1024 * 1024;
      const whole = sampleBytes(2 * size + 1000);
      const uploadId = await create("large");
      const part = async (partNumber: number) => {
        const body = whole.subarray((partNumber - 1) * size, partNumber * size);
        const path = `/large?action=part&uploadId=${uploadId}&partNumber=${partNumber}`;
        const { status, text } = await ask({ method: "PUT", path, body });
        assert.equal(status, 200, text);
        return JSON.parse(text) as { partNumber: number; etag: string };
      };
      const parts = await Promise.all([part(3), part(1), part(2)]);
      assert.deepEqual(
        parts.map(({ partNumber }) => partNumber),
        [3, 1, 2],
      );
      assert.equal(
        (await ask("/large")).status,
        404,
        "the object does not exist before the upload is complete",
      );

      const complete = `/large?action=complete&uploadId=${uploadId}`;
      const empty = await ask({ method: "POST", path: complete, body: "[]" });
      assert.equal(empty.status, 400, empty.text);
      const inOrder = parts.toSorted((a, b) => a.partNumber - b.partNumber);
      const completed = await ask({ method: "POST", path: complete, body: JSON.stringify(inOrder) });
      assert.equal(completed.status, 200, completed.text);
      const object = JSON.parse(completed.text) as { key: string; size: number; httpEtag: string };
      assert.deepEqual(
        [object.key, object.size, object.httpEtag],
        ["large", whole.length, completed.headers.etag],
      );
      assert.ok((await ask("/large")).bytes.equals(whole));

      const aborted = await create("given-up");
      const abort = await ask({ method: "DELETE", path: `/given-up?uploadId=${aborted}` });
      assert.deepEqual([abort.status, abort.text], [204, ""]);
      const late = `/given-up?action=part&uploadId=${aborted}&partNumber=1`;
      assert.equal((await ask({ method: "PUT", path: late, body: "x" })).status, 400);
      assert.equal((await ask({ method: "POST", path: "/large" })).text, "Bad Request");
    },
  );
}
