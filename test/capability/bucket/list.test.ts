// Listing a bucket in the bucket protocol: pages, prefixes, delimiters and included metadata.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openScene } from "./scene.ts";

interface Page {
  readonly objects: readonly Record<string, unknown>[];
  readonly truncated: boolean;
  readonly cursor?: string;
  readonly delimitedPrefixes: readonly string[];
}

const runtime = { method: "list", newRuntime: true };

test("list pages through all objects in the order of their keys", async (t) => {
  const { engine, send } = await openScene(t);
  for (const key of ["c", "a", "ü", "b", "\u0000"]) await engine.put("bucket", key, Buffer.from("x"));
  const names: unknown[] = [];
  let cursor: string | undefined;
  do {
    const { status, metadata } = await send({ ...runtime, limit: 2, ...(cursor && { cursor }) });
    assert.equal(status, 200);
    const page = metadata as unknown as Page;
    assert.equal(page.truncated, page.cursor !== undefined);
    names.push(...page.objects.map(({ name }) => name));
    cursor = page.cursor;
  } while (cursor !== undefined);
  assert.deepEqual(names, ["\u0000", "a", "b", "c", "ü"]);
});

test("list groups at the delimiter, and prefixes keep it", async (t) => {
  const { engine, send } = await openScene(t);
  for (const key of ["a/1", "a/2", "b", "c/d/e", "c/f"]) await engine.put("bucket", key, Buffer.from("x"));
  const list = async (fields: object) => {
    const page = (await send({ ...runtime, ...fields })).metadata as unknown as Page;
    return [page.objects.map(({ name }) => name), page.delimitedPrefixes];
  };
  assert.deepEqual(await list({ delimiter: "/" }), [["b"], ["a/", "c/"]]);
  assert.deepEqual(await list({ delimiter: "/", prefix: "c/" }), [["c/f"], ["c/d/"]]);
  assert.deepEqual(await list({ prefix: "a" }), [["a/1", "a/2"], []]);
  assert.deepEqual(await list({ startAfter: "b" }), [["c/d/e", "c/f"], []]);
  assert.deepEqual(await list({ startAfter: "b", cursor: "" }), [["c/d/e", "c/f"], []]);
});

test("list returns the metadata that the request includes", async (t) => {
  const { engine, send } = await openScene(t);
  await engine.put("bucket", "a", Buffer.from("x"), {
    httpMetadata: { contentType: "text/plain" },
    customMetadata: new Map([["k", "v"]]),
  });
  const list = async (fields: object) => {
    const page = (await send({ method: "list", ...fields })).metadata as unknown as Page;
    const { httpFields, customFields } = page.objects[0]!;
    return [httpFields, customFields];
  };
  const http = { contentType: "text/plain" };
  const custom = [{ k: "k", v: "v" }];
  assert.deepEqual(await list({ newRuntime: true }), [undefined, undefined]);
  assert.deepEqual(await list({ newRuntime: true, include: [] }), [undefined, undefined]);
  assert.deepEqual(await list({ newRuntime: true, include: [0] }), [http, undefined]);
  assert.deepEqual(await list({ newRuntime: true, include: [1] }), [undefined, custom]);
  assert.deepEqual(await list({ newRuntime: true, include: [1, 0] }), [http, custom]);
  assert.deepEqual(await list({}), [http, custom], "an old runtime gets all metadata");
});

test("a page stays below the size that the runtime reads, and no object is skipped", async (t) => {
  const { engine, send } = await openScene(t);
  const keys = Array.from(
    { length: 1000 },
    (_, i) => `${String(i).padStart(4, "0")}${"\u0001".repeat(1000)}`,
  );
  for (const key of keys) await engine.put("bucket", key, Buffer.from("x"));
  const names: unknown[] = [];
  let cursor: string | undefined;
  do {
    const { metadata, headers } = await send({ ...runtime, ...(cursor && { cursor }) });
    assert.ok(Number(headers["cf-r2-metadata-size"]) <= 1024 * 1024);
    const page = metadata as unknown as Page;
    names.push(...page.objects.map(({ name }) => name));
    cursor = page.cursor;
  } while (cursor !== undefined);
  assert.deepEqual(names, keys);
});

test("limits and cursors that are not valid are refused", async (t) => {
  const { engine, send } = await openScene(t);
  await engine.put("bucket", "a", Buffer.from("x"));
  const none = await send({ ...runtime, limit: 0 });
  assert.deepEqual([none.metadata.objects, none.metadata.truncated], [[], true]);
  assert.equal((await send({ ...runtime, limit: 5000 })).status, 200);
  // The runtime sends -1 as an unsigned number.
  assert.equal((await send({ ...runtime, limit: 4294967294 })).code, 10022);
  assert.equal((await send({ ...runtime, cursor: "invalid" })).code, 10029);
});
