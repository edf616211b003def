// s3fs: a mounted bucket, used through file system calls only.
import assert from "node:assert/strict";
import {
  appendFile,
  chmod,
  copyFile,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  truncate,
  unlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { ListObjectsV2Command, PutObjectCommand } from "@aws-sdk/client-s3";
import { assertBytes } from "../../support/bytes.ts";
import {
  assertFile,
  assertSameFolders,
  oddNames,
  writeBigFile,
  writeFiles,
  writeOddFiles,
} from "../files.ts";
import { mountBucket } from "../mount.ts";
import { everydayJobs } from "../scene.ts";

everydayJobs(
  "s3fs",
  async ({ key }, directory) => {
    await writeFiles(directory, { credentials: `${key.accessKeyId}:${key.secretAccessKey}\n` });
    await chmod(join(directory, "credentials"), 0o600);
    return {};
  },
  async (t, scene) => {
    const { path, s3, parts } = scene;
    const options = [
      `passwd_file=${path("credentials")}`,
      `url=${s3.url}`,
      "use_path_request_style",
      "multipart_size=8",
      "retries=1",
    ];
    const mount = (...more: string[]) =>
      mountBucket(t, scene, ["bucket", ...[...options, ...more].flatMap((option) => ["-o", option])]);
    const first = await mount();
    const inside = (...names: string[]) => join(first.folder, ...names);
    const big = await writeBigFile(path("big.bin"));

    await t.test("s3fs writes, lists and reads files with unusual names", async () => {
      await writeOddFiles(path("odd"));
      await writeOddFiles(inside("odd"));
      const atTop = new Set(oddNames.map((name) => name.split("/")[0]!));
      assert.deepEqual((await readdir(inside("odd"))).sort(), [...atTop].sort());
      await assertSameFolders(inside("odd"), path("odd"));
    });

    await t.test("s3fs writes a large file in parts and reads the whole file and a range of it", async () => {
      await copyFile(path("big.bin"), inside("big.bin"));
      assert.equal((await stat(inside("big.bin"))).size, big.length);
      assert.ok((await parts("bucket", "big.bin")) > 1, "s3fs merges small parts with their neighbours");
      await assertFile(inside("big.bin"), big);
      const file = await open(inside("big.bin"));
      try {
        const { buffer } = await file.read({ buffer: Buffer.alloc(1000), position: 30_000_000 });
        assertBytes(buffer, big.subarray(30_000_000, 30_001_000));
      } finally {
        await file.close();
      }
    });

    await t.test("s3fs renames a small file, a large file and a folder", async () => {
      await rename(inside("odd", "two words.txt"), inside("odd", "now + three words.txt"));
      await rename(path("odd", "two words.txt"), path("odd", "now + three words.txt"));
      await rename(inside("big.bin"), inside("big ü.bin"));
      await rename(inside("odd"), inside("odd, renamed"));
      await assertSameFolders(inside("odd, renamed"), path("odd"));
      await assertFile(inside("big ü.bin"), big);
      assert.deepEqual((await readdir(inside())).sort(), ["big ü.bin", "odd, renamed"]);
    });

    await t.test("s3fs appends to, truncates and overwrites parts of files", async () => {
      await writeFile(inside("log"), "one\n");
      await appendFile(inside("log"), "two\n");
      assert.equal(await readFile(inside("log"), "utf8"), "one\ntwo\n");
      await truncate(inside("log"), 2);
      assert.equal(await readFile(inside("log"), "utf8"), "on");
      await appendFile(inside("big ü.bin"), "the end");
      const file = await open(inside("big ü.bin"), "r+");
      try {
        await file.write("in the middle", 20_000_000);
      } finally {
        await file.close();
      }
      const expected = Buffer.concat([big, Buffer.from("the end")]);
      expected.write("in the middle", 20_000_000);
      await assertFile(inside("big ü.bin"), expected);
    });

    await t.test("s3fs reads objects of the AWS SDK, and a script reads files of s3fs", async () => {
      const put = { Bucket: "bucket", Key: "from elsewhere/file.txt", Body: "by the SDK" };
      await s3.client().send(new PutObjectCommand(put));
      assert.equal(await readFile(inside("from elsewhere", "file.txt"), "utf8"), "by the SDK");
      assert.equal((await s3.server.ask("/log")).status, 200);
    });

    await t.test("s3fs keeps mode and modification time of a file", async () => {
      await chmod(inside("log"), 0o640);
      await utimes(inside("log"), 981_173_106, 981_173_106);
      const { mode, mtimeMs } = await stat(inside("log"));
      assert.deepEqual([mode & 0o777, mtimeMs], [0o640, 981_173_106_000]);
    });

    await t.test("s3fs shows all files after the bucket is unmounted and mounted again", async () => {
      await first.unmount();
      const second = await mount("listobjectsv2");
      await assertSameFolders(join(second.folder, "odd, renamed"), path("odd"));
      const { mode, mtimeMs, size } = await stat(join(second.folder, "log"));
      assert.deepEqual([mode & 0o777, mtimeMs, size], [0o640, 981_173_106_000, 2]);
      await second.unmount();
    });

    await t.test("s3fs creates and deletes folders and files", async () => {
      const { folder, unmount } = await mount();
      await mkdir(join(folder, "new"));
      await rmdir(join(folder, "new"));
      await unlink(join(folder, "log"));
      await assert.rejects(rmdir(join(folder, "odd, renamed")), { code: "ENOTEMPTY" });
      for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true });
      assert.deepEqual(await readdir(folder), []);
      await unmount();
      const { KeyCount } = await s3.client().send(new ListObjectsV2Command({ Bucket: "bucket" }));
      assert.equal(KeyCount, 0);
    });
  },
);
