// End-to-end test of examples/file-server: ranges, conditional requests and caching.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { openStore } from "../../src/index.ts";
import { sampleBytes } from "../support/bytes.ts";
import type { Asked } from "./client.ts";
import { example, openScene } from "./scene.ts";

test("examples/file-server answers 200, 206, 304, 404, 405, 412 and 416 as RFC 9110 requires", async (t) => {
  const scene = await openScene(t);
  const body = sampleBytes(100_000);
  const store = await openStore(join(scene.directory, ".store"));
  await store.createBucket("files");
  const files = store.bucket("files");
  const { httpEtag: etag, uploaded } = await files.put("a folder/data.bin", body, {
    httpMetadata: { contentType: "application/x-data", cacheControl: "max-age=5" },
  });
  await files.put("index.html", "<h1>home</h1>", { httpMetadata: { contentType: "text/html" } });
  await files.put("docs/index.html", "<h1>docs</h1>");
  await store.close();
  const { ask } = await scene.start("serve", { configs: [example("file-server")] });
  const path = "/a%20folder/data.bin";
  const get = (headers: Record<string, string>, further: Partial<Asked> = {}) =>
    ask({ path, headers, ...further });
  const later = new Date(uploaded.getTime() + 60_000).toUTCString();
  const earlier = new Date(uploaded.getTime() - 60_000).toUTCString();

  await t.test("examples/file-server answers GET with type, caching, etag, date and length", async () => {
    const { status, headers, bytes } = await get({});
    assert.equal(status, 200);
    assert.ok(bytes.equals(body));
    assert.deepEqual(
      [headers["content-type"], headers["cache-control"], headers["accept-ranges"], headers.etag],
      ["application/x-data", "max-age=5", "bytes", etag],
    );
    assert.equal(headers["content-length"], "100000");
    assert.equal(headers["last-modified"], uploaded.toUTCString());
  });

  await t.test("examples/file-server answers HEAD with the headers of GET and without a body", async () => {
    const { headers: got, bytes } = await get({}, { method: "HEAD" });
    const { headers } = await get({});
    const { date: _, ...same } = headers;
    assert.deepEqual({ ...got, date: undefined }, { ...same, date: undefined });
    assert.equal(bytes.length, 0);
  });

  await t.test("examples/file-server answers the path of a folder with its index.html", async () => {
    assert.equal((await ask("/")).text, "<h1>home</h1>");
    assert.equal((await ask("/docs/")).text, "<h1>docs</h1>");
  });

  for (const [range, first, last] of [
    ["bytes=0-0", 0, 0],
    ["bytes=70000-70999", 70_000, 70_999],
    ["bytes=99000-", 99_000, 99_999],
    ["bytes=-500", 99_500, 99_999],
    ["bytes=99990-200000", 99_990, 99_999],
  ] as const) {
    await t.test(`examples/file-server returns 206 for Range: ${range}`, async () => {
      const { status, headers, bytes } = await get({ Range: range });
      assert.equal(status, 206);
      assert.equal(headers["content-range"], `bytes ${first}-${last}/100000`);
      assert.equal(headers["content-length"], String(last - first + 1));
      assert.ok(bytes.equals(body.subarray(first, last + 1)));
    });
  }

  for (const range of ["bytes=100000-", "bytes=200000-300000", "bytes=-0"]) {
    await t.test(`examples/file-server returns 416 for Range: ${range}`, async () => {
      const { status, headers } = await get({ Range: range });
      assert.deepEqual([status, headers["content-range"]], [416, "bytes */100000"]);
    });
  }

  const rows: readonly (readonly [status: number, headers: Record<string, string>])[] = [
    [304, { "If-None-Match": etag }],
    [304, { "If-None-Match": `"other", ${etag}` }],
    [304, { "If-None-Match": `W/${etag}` }],
    [304, { "If-None-Match": "*" }],
    [304, { "If-Modified-Since": later }],
    [200, { "If-None-Match": '"other"' }],
    [200, { "If-Modified-Since": earlier }],
    [200, { "If-Match": etag }],
    [200, { "If-Match": "*" }],
    [200, { "If-Unmodified-Since": later }],
    [412, { "If-Match": '"other"' }],
    [412, { "If-Unmodified-Since": earlier }],
    [206, { "If-Match": etag, Range: "bytes=0-9" }],
    [304, { "If-None-Match": etag, Range: "bytes=0-9" }],
  ];
  for (const [status, headers] of rows) {
    const said = Object.entries(headers).map((pair) => pair.join(": "));
    await t.test(
      `examples/file-server returns ${status} for GET with ${said
        .join(", ")
        .replaceAll(etag, "the object's etag")
        .replace(later, "a date after the upload")
        .replace(earlier, "a date before the upload")}`,
      async () => {
        const answer = await get(headers);
        assert.equal(answer.status, status);
        assert.equal(answer.headers.etag, etag);
        if (status === 304 || status === 412) assert.equal(answer.bytes.length, 0);
      },
    );
  }

  await t.test("examples/file-server returns 404 for a missing object and 405 for PUT", async () => {
    assert.equal((await ask("/none")).status, 404);
    const { status, headers } = await ask({ method: "PUT", path, body: "x" });
    assert.deepEqual([status, headers.allow], [405, "GET, HEAD"]);
  });
});
