// rclone: copies, syncs with times in metadata, streams of unknown length, and its own checks.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import {
  assertFile,
  assertSameFolders,
  changeFiles,
  oddNames,
  writeBigFile,
  writeFiles,
  writeOddFiles,
} from "../files.ts";
import { proxyTo } from "../names.ts";
import { assertDone, domain, everydayJobs, temporaryCredentials } from "../scene.ts";

everydayJobs(
  "rclone",
  async ({ url, key }, directory) => {
    await writeFiles(directory, {
      "rclone.conf": `[store]
type = s3
provider = Other
env_auth = false
access_key_id = ${key.accessKeyId}
secret_access_key = ${key.secretAccessKey}
endpoint = ${url}
upload_cutoff = 8M
chunk_size = 8M
copy_cutoff = 8M
list_chunk = 5
`,
    });
    return { args: ["--config", `${directory}/rclone.conf`, "--retries", "1", "--low-level-retries", "1"] };
  },
  async (t, { run, call, path, parts, s3 }) => {
    const namesUnder = async (remotePath: string) =>
      (await run("lsf", "--recursive", "--files-only", remotePath)).split("\n").slice(0, -1);

    await t.test("rclone creates a bucket and lists it", async () => {
      await run("mkdir", "store:photos");
      assert.deepEqual((await run("lsf", "store:")).split("\n"), ["bucket/", "photos/", ""]);
    });

    await t.test("rclone works with temporary credentials, within their prefix", async () => {
      const given = await temporaryCredentials(s3, "photos/temp/*:read,write,list");
      const environment = {
        RCLONE_CONFIG_TEMP_TYPE: "s3",
        RCLONE_CONFIG_TEMP_PROVIDER: "Other",
        RCLONE_CONFIG_TEMP_ENDPOINT: s3.url,
        RCLONE_CONFIG_TEMP_ACCESS_KEY_ID: given.accessKeyId,
        RCLONE_CONFIG_TEMP_SECRET_ACCESS_KEY: given.secretAccessKey,
        RCLONE_CONFIG_TEMP_SESSION_TOKEN: given.sessionToken!,
        RCLONE_CONFIG_TEMP_NO_CHECK_BUCKET: "true",
      };
      await writeFiles(path("temp"), { "a.txt": "a" });
      assertDone(await call(["copy", path("temp"), "temp:photos/temp"], { environment }), "copy");
      const listed = await call(["lsf", "temp:photos/temp"], { environment });
      assert.equal(listed.stdout, "a.txt\n", listed.stderr);
      const outside = await call(["copy", path("temp"), "temp:photos/outside"], { environment });
      assert.notEqual(outside.code, 0);
      await run("delete", "store:photos/temp");
    });

    await t.test("rclone uploads, lists and downloads files with unusual names", async () => {
      await writeOddFiles(path("odd"));
      await run("copy", path("odd"), "store:photos/odd");
      assert.deepEqual((await namesUnder("store:photos/odd")).sort(), [...oddNames].sort());
      await run("copy", "store:photos/odd", path("odd back"));
      await assertSameFolders(path("odd back"), path("odd"));
    });

    await t.test("rclone lists folders and counts the objects in a folder", async () => {
      const folders = await run("lsf", "--dirs-only", "store:photos/odd");
      assert.deepEqual(folders.split("\n").slice(0, -1).sort(), [".folder/", "deep/", "ünï cödé/"]);
      assert.equal(JSON.parse(await run("size", "--json", "store:photos/odd")).count, oddNames.length);
    });

    await t.test("rclone uploads a large file in parts and downloads the same bytes", async () => {
      const bytes = await writeBigFile(path("big.bin"));
      await run("copyto", path("big.bin"), "store:photos/big.bin");
      assert.equal(await parts("photos", "big.bin"), 5);
      await run("copyto", "store:photos/big.bin", path("big back.bin"));
      await assertFile(path("big back.bin"), bytes);
    });

    await t.test("rclone uploads a stream of unknown length and reads a range of it", async () => {
      const input = "said by another program\n".repeat(500_000);
      assertDone(await call(["rcat", "store:photos/stream"], { input }), "rcat");
      assert.equal(await parts("photos", "stream"), 2);
      assert.equal(await run("cat", "store:photos/stream"), input);
      const piece = ["--offset", "9000000", "--count", "24", "store:photos/stream"];
      assert.equal(await run("cat", ...piece), "said by another program\n");
    });

    await t.test("rclone syncs changes and deletions in both directions", async () => {
      await run("sync", path("odd"), "store:photos/sync");
      await run("sync", "store:photos/sync", path("synced"));
      await assertSameFolders(path("synced"), path("odd"));
      await changeFiles(path("odd"));
      const { stderr } = await call(["sync", "-v", path("odd"), "store:photos/sync"]);
      assert.equal(stderr.match(/: Copied \(/g)?.length, 3, stderr);
      assert.equal(stderr.match(/: Deleted$/gm)?.length, 1, stderr);
      await run("sync", "store:photos/sync", path("synced"));
      await assertSameFolders(path("synced"), path("odd"));
    });

    await t.test("rclone check succeeds for equal files and fails if a file is missing", async () => {
      await run("check", path("odd"), "store:photos/sync");
      await run("check", "--download", path("odd"), "store:photos/sync");
      await writeFiles(path("odd"), { "deep/er/one more": "not yet there" });
      assert.equal((await call(["check", path("odd"), "store:photos/sync"])).code, 1);
    });

    await t.test(
      "rclone keeps content type, metadata and time of an object through a copy and a move",
      async () => {
        const described = [
          "--header-upload",
          "Content-Type: text/x-poem",
          "--header-upload",
          "x-amz-meta-author: Jo",
        ];
        await run("copyto", ...described, path("odd", "plain.txt"), "store:photos/poem");
        await run("copyto", "store:photos/poem", "store:photos/poem copy");
        await run("moveto", "store:photos/poem copy", "store:photos/poem + moved");
        const listed = JSON.parse(await run("lsjson", "--metadata", "store:photos", "--include", "/poem*"));
        assert.deepEqual(
          listed.map(({ Name }: { Name: string }) => Name),
          ["poem", "poem + moved"],
        );
        const [first, moved] = listed;
        assert.equal(moved.MimeType, "text/x-poem");
        assert.equal(moved.Metadata.author, "Jo");
        assert.equal(moved.ModTime, first.ModTime);
      },
    );

    await t.test("rclone copies and moves a large object on the server, in parts", async () => {
      await run("copyto", "store:photos/big.bin", "store:bucket/copied ü.bin");
      await run("moveto", "store:bucket/copied ü.bin", "store:bucket/moved.bin");
      assert.equal(await parts("bucket", "moved.bin"), 5);
      await run("copyto", "store:bucket/moved.bin", path("moved.bin"));
      await assertFile(path("moved.bin"), await readFile(path("big.bin")));
    });

    await t.test("rclone sets the time of an object without uploading it again", async () => {
      await run("touch", "--timestamp", "2001-02-03T04:05:06", "store:photos/poem");
      assert.match(await run("lsl", "store:photos/poem"), /2001-02-03 04:05:06/);
    });

    await t.test("a URL presigned by rclone returns the object", async () => {
      const answer = await fetch((await run("link", "--expire", "60s", "store:photos/poem + moved")).trim());
      assert.equal(answer.status, 200);
      assert.equal(await answer.text(), String(await readFile(path("odd", "plain.txt"))));
    });

    await t.test("rclone syncs a bucket with virtual-hosted-style requests", async () => {
      const environment = { HTTP_PROXY: (await proxyTo(t, s3.url)).href };
      const named = ["--s3-endpoint", `http://${domain}`, "--s3-force-path-style=false"];
      const sync = (from: string, to: string) => call([...named, "sync", from, to], { environment });
      assertDone(await sync(path("odd"), "store:photos/named"), "sync to a name");
      assertDone(await sync("store:photos/named", path("named")), "sync from a name");
      await assertSameFolders(path("named"), path("odd"));
    });

    await t.test("an object that rclone stores is readable by a script", async () => {
      await run("copyto", path("odd", "two words.txt"), "store:bucket/two words.txt");
      assert.equal((await s3.server.ask("/two%20words.txt")).status, 200);
    });

    await t.test("rclone deletes an object, a folder, and a bucket with its objects", async () => {
      await run("deletefile", "store:photos/poem");
      await run("delete", "store:photos/odd");
      assert.deepEqual(await namesUnder("store:photos/odd"), []);
      await run("cleanup", "store:photos");
      assert.notEqual((await call(["rmdir", "store:photos"])).code, 0);
      await run("purge", "store:photos");
      assert.equal(await run("lsf", "store:"), "bucket/\n");
    });
  },
);
