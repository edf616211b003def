// The header x-store-as-of: reads and listings of a versioned bucket as of an instant.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { assertRefused, texts, versionedScene } from "../versioned.ts";

const asOf = "x-store-as-of";

async function instant(): Promise<string> {
  await wait(5);
  const now = new Date().toISOString();
  await wait(5);
  return now;
}

test("x-store-as-of reads and lists the objects that were current at that time", async (t) => {
  const { request, put } = await versionedScene(t);
  const empty = await instant();
  const first = await put("a", "one");
  await put("b", "gone");
  const early = await instant();
  await put("a", "two");
  await request("DELETE", "b");
  await put("c", "new");
  const late = await instant();
  const at = (method: string, path: string, time: string, query = "") =>
    request(method, path, { query, headers: { [asOf]: time } });
  const read = await at("GET", "a", early);
  assert.deepEqual([read.status, read.text, read.headers["x-amz-version-id"]], [200, "one", first]);
  assert.equal((await at("GET", "a", late)).text, "two");
  assert.equal((await at("HEAD", "b", early)).headers["content-length"], "4");
  assertRefused(await at("GET", "a", empty), [404, "NoSuchKey"]);
  assertRefused(await at("GET", "b", late), [404, "NoSuchKey"]);
  for (const query of ["", "list-type=2"]) {
    const keys = async (time: string) => texts((await at("GET", "", time, query)).text, "Key");
    assert.deepEqual(await keys(empty), []);
    assert.deepEqual(await keys(early), ["a", "b"]);
    assert.deepEqual(await keys(late), ["a", "c"]);
  }
  assert.equal((await at("GET", "a", new Date(Date.now() + 5000).toUTCString())).text, "two");
});

test("x-store-as-of is refused if it is not a time, in an unversioned bucket and with a version id", async (t) => {
  const { request, put } = await versionedScene(t);
  const version = await put("a", "one");
  for (const time of ["yesterday", "2026-13-01", "1700000000", ""]) {
    for (const path of ["a", ""])
      assertRefused(await request("GET", path, { headers: { [asOf]: time } }), [400, "InvalidArgument"]);
  }
  const headers = { [asOf]: "2026-11-01T00:00:00Z" };
  const both = await request("GET", "a", { query: `versionId=${version}`, headers });
  assertRefused(both, [400, "InvalidRequest"]);
  const plain = await versionedScene(t, "plain");
  await plain.put("a", "one");
  for (const path of ["a", ""])
    assertRefused(await plain.request("GET", path, { headers }), [400, "InvalidRequest"]);
});
