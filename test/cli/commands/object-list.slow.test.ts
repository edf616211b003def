// `store object list`: order, pages, grouping and JSON.
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openEngine } from "../../../src/open.ts";
import { openShell, type Shell } from "../store.ts";

async function bucketWith(t: TestContext, keys: readonly string[]): Promise<Shell> {
  const shell = await openShell(t);
  const { engine } = await openEngine(join(shell.directory, ".store"));
  await engine.createBucket("photos");
  const bytes = new TextEncoder().encode("12345");
  await Promise.all(
    keys.map((key) => engine.put("photos", key, bytes, { customMetadata: new Map([["k", key]]) })),
  );
  await engine.close();
  return shell;
}

function keysOf(lines: string): string[] {
  return lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split("\t")[2]!);
}

interface Listed {
  readonly key?: string;
  readonly prefix?: string;
  readonly size?: number;
  readonly customMetadata?: Record<string, string>;
}

test("object list prints all pages in key order, up to --limit", async (t) => {
  const keys = Array.from({ length: 2345 }, (_, i) => `key-${String(i).padStart(5, "0")}`);
  const shell = await bucketWith(t, keys);
  assert.deepEqual(keysOf(await shell.store("object", "list", "photos")), keys);
  const listed = JSON.parse(await shell.store("object", "list", "photos", "--json")) as Listed[];
  assert.deepEqual(
    listed.map(({ key }) => key),
    keys,
  );
  assert.deepEqual(listed[7]!.customMetadata, { k: keys[7] });
  assert.equal(listed[7]!.size, 5);
  for (const limit of [1, 1000, 1001]) {
    const some = await shell.store("object", "list", "photos", "--limit", String(limit));
    assert.deepEqual(keysOf(some), keys.slice(0, limit));
  }
});

test("object list uses everything after the first slash as prefix, and --delimiter groups keys", async (t) => {
  const shell = await bucketWith(t, [
    "2025/a",
    "2026/a",
    "2026/b/x",
    "2026/b/y",
    "2026/c",
    "2026b",
    "\u{1f600}",
    "\uffff",
  ]);
  const list = async (...args: string[]) => keysOf(await shell.store("object", "list", ...args));
  assert.deepEqual(await list("photos/2026"), ["2026/a", "2026/b/x", "2026/b/y", "2026/c", "2026b"]);
  assert.deepEqual(await list("photos/2026/"), ["2026/a", "2026/b/x", "2026/b/y", "2026/c"]);
  assert.deepEqual(await list("photos/2026/", "--delimiter", "/"), ["2026/a", "2026/b/", "2026/c"]);
  const all = ["2025/", "2026/", "2026b", "\uffff", "\u{1f600}"];
  assert.deepEqual(await list("photos", "--delimiter", "/"), all, "sorted by their bytes");
  assert.deepEqual(await list("photos/", "--delimiter", "/"), all, "a final slash adds no prefix");
  assert.deepEqual(await list("photos", "--delimiter", "/", "--limit", "2"), all.slice(0, 2));
  const json = JSON.parse(
    await shell.store("object", "list", "photos/2026/", "--delimiter", "/", "--json"),
  ) as Listed[];
  assert.deepEqual(
    json.map(({ key, prefix }) => key ?? { prefix }),
    ["2026/a", { prefix: "2026/b/" }, "2026/c"],
  );
});

test("object list without matches prints nothing, or [] as JSON, and a note on stderr", async (t) => {
  const shell = await bucketWith(t, ["a"]);
  const { code, stdout, stderr } = await shell.run(["object", "list", "photos/b"]);
  assert.deepEqual([code, stdout, stderr], [0, "", "There are no objects.\n"]);
  assert.equal(await shell.store("object", "list", "photos/b", "--json"), "[]\n");
});
