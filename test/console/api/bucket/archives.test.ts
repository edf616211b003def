// ZIP archives of a selection, read by Python's zipfile, which checks every checksum.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import {
  createSelections,
  selectionLifetime,
  selectionsOfAll,
  selectionsOfUser,
} from "../../../../src/console/api/bucket/archive-selections.ts";
import { directoryEnd, directoryHeader, localHeader } from "../../../../src/console/api/bucket/zip-format.ts";
import { safeName, zipStream } from "../../../../src/console/api/bucket/zip-stream.ts";
import type { ArchiveDocument } from "../../../../src/console/wire-bucket.ts";
import { openEngine } from "../../../../src/open.ts";
import { apiScene } from "../scene.ts";

const script = `
import sys, zipfile, json
with zipfile.ZipFile(sys.argv[1]) as z:
    assert z.testzip() is None
    print(json.dumps([[i.filename, i.file_size, i.compress_type] for i in z.infolist()]))
`;

/** Returns name, size and compression of every file in the archive. */
async function readArchive(t: TestContext, bytes: Uint8Array): Promise<[string, number, number][]> {
  const folder = await mkdtemp(join(tmpdir(), "store-zip-"));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, "a.zip");
  await writeFile(file, bytes);
  const { status, stdout, stderr } = spawnSync("python3", ["-c", script, file], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout) as [string, number, number][];
}

test("a selection of objects and folders is downloaded as a valid archive", async (t) => {
  const scene = await apiScene(t);
  const large = randomBytes(700_000);
  await scene.engine.put("bucket", "2026/a.txt", Buffer.from("a"));
  await scene.engine.put("bucket", "2026/garden/", Buffer.alloc(0));
  await scene.engine.put("bucket", "2026/garden/blüte.bin", large);
  await scene.engine.put("bucket", "2026/garden/../../evil", Buffer.from("evil"));
  const json = { bucket: "bucket", base: "2026/", keys: ["2026/a.txt"], prefixes: ["2026/garden/"] };
  const { id, objects, bytes } = await scene.get<ArchiveDocument>("POST /api/archive", { json });
  assert.deepEqual([objects, bytes], [4, 700_005]);
  const content = await scene.bytes(`/api/archive?bucket=bucket&id=${id}`);
  assert.deepEqual(await readArchive(t, content), [
    ["a.txt", 1, 0],
    ["garden/", 0, 0],
    ["garden/__/__/evil", 4, 0],
    ["garden/blüte.bin", 700_000, 0],
  ]);
});

test("an archive of another bucket, or with an unknown id, is refused", async (t) => {
  const scene = await apiScene(t);
  await scene.engine.createBucket("other");
  await scene.engine.put("bucket", "a", Buffer.from("a"));
  const { id } = await scene.get<ArchiveDocument>("POST /api/archive", {
    json: { bucket: "bucket", keys: ["a"] },
  });
  await scene.refused(404, "GET /api/archive", { query: { bucket: "other", id } });
  await scene.refused(404, "GET /api/archive", { query: { bucket: "bucket", id: "x" } });
  await scene.refused(400, "POST /api/archive", { json: { bucket: "bucket", keys: [] } });
  await scene.refused(400, "POST /api/archive", { json: { bucket: "bucket", keys: [1] } });
});

test("a user's selections, and those of all users, are bounded: the oldest make room", async (t) => {
  const scene = await apiScene(t);
  await scene.engine.put("bucket", "a", Buffer.from("a"));
  const viewer = await scene.signIn({ buckets: { bucket: "viewer" } });
  const keys = (length: number) => ["a", ...Array.from({ length }, (_, i) => `${i}`.padEnd(1000, "x"))];
  const add = (length: number) =>
    viewer.get<ArchiveDocument>("POST /api/archive", { json: { bucket: "bucket", keys: keys(length) } });
  const stored = async () => {
    const all = await scene.documents.list("console archive");
    return { count: all.length, bytes: all.reduce((sum, { text }) => sum + text.length, 0) };
  };
  for (let i = 0; i < 20; i++) await add(200);
  const large = await stored();
  assert.ok(large.bytes <= selectionsOfUser.bytes && large.count === 5, JSON.stringify(large));
  let newest = "";
  for (let i = 0; i < selectionsOfUser.count + 5; i++) newest = (await add(1)).id;
  assert.equal((await stored()).count, selectionsOfUser.count);
  await viewer.bytes(`/api/archive?bucket=bucket&id=${newest}`);
  const json = { bucket: "bucket", keys: ["a".repeat(1025)] };
  await viewer.refused(400, "POST /api/archive", { json });
});

test("expired selections are deleted, and many users together keep no more than the store allows", async () => {
  const { engine, documents } = await openEngine("memory:");
  let time = 1;
  const selections = createSelections(documents, () => time);
  const large = { bucket: "bucket", base: "", keys: ["x".repeat(250_000)], prefixes: [] };
  const first = await selections.add("first", large);
  for (let user = 0; user < 150; user++) await selections.add(`user ${user}`, large);
  const bytes = (await documents.list("console archive")).reduce((sum, { text }) => sum + text.length, 0);
  assert.ok(bytes <= selectionsOfAll.bytes && bytes > selectionsOfAll.bytes - 250_100, `${bytes}`);
  assert.equal(await selections.find(first), undefined, "the oldest made room");
  time += selectionLifetime;
  const last = await selections.add("last", { ...large, keys: ["a"] });
  assert.equal((await documents.list("console archive")).length, 1);
  assert.deepEqual((await selections.find(last))?.keys, ["a"]);
  await engine.close();
});

test("names in an archive stay inside its folder and differ from each other", async (t) => {
  assert.equal(safeName("../../etc/passwd"), "__/__/etc/passwd");
  assert.equal(safeName("/a//b\\c"), "a/b_c");
  assert.equal(safeName("C:\u0000.txt"), "C__.txt");
  const files = async function* () {
    for (const name of ["a.txt", "/a.txt", "a (4).txt", "./a.txt", "//a.txt"])
      yield { name, modified: 0, size: 1, bytes: Buffer.from("a") };
  };
  const chunks: Uint8Array[] = [];
  for await (const chunk of zipStream(files())) chunks.push(chunk);
  const names = (await readArchive(t, Buffer.concat(chunks))).map(([name]) => name);
  assert.deepEqual(names, ["a.txt", "a (2).txt", "a (4).txt", "a (3).txt", "a (5).txt"]);
});

test("sizes, offsets and counts of more than 32 or 16 bits use ZIP64", () => {
  const name = Buffer.from("a");
  const large = 5 * 1024 ** 3;
  const entry = { name, modified: 0, size: large, crc: 1, offset: large + 1 };
  const header = directoryHeader(entry);
  assert.deepEqual([header.readUInt32LE(24), header.readUInt32LE(42)], [0xffffffff, 0xffffffff]);
  const extra = 46 + name.length;
  assert.equal(header.readUInt16LE(extra), 1);
  assert.equal(header.readBigUInt64LE(extra + 4), BigInt(large));
  assert.equal(header.readBigUInt64LE(extra + 20), BigInt(large + 1));
  assert.equal(localHeader(entry).readUInt16LE(30 + name.length), 1);
  assert.equal(directoryEnd(3, 100, 100).length, 22);
  for (const end of [directoryEnd(70_000, 100, 100), directoryEnd(3, 100, large)]) {
    assert.equal(end.readUInt32LE(0), 0x06064b50);
    assert.equal(end.length, 98);
  }
});
