// restic: backups in a bucket, checked completely, restored and pruned.
import assert from "node:assert/strict";
import { readlink, symlink } from "node:fs/promises";
import { assertSameFolders, changeFiles, writeBigFile, writeFiles, writeOddFiles } from "../files.ts";
import { everydayJobs } from "../scene.ts";

everydayJobs(
  "restic",
  async ({ url, key }, directory) => {
    await writeFiles(directory, { password: "a password of the repository's own\n" });
    return {
      environment: {
        AWS_ACCESS_KEY_ID: key.accessKeyId,
        AWS_SECRET_ACCESS_KEY: key.secretAccessKey,
        RESTIC_REPOSITORY: `s3:${url}/backups/of this machine`,
        RESTIC_PASSWORD_FILE: `${directory}/password`,
        RESTIC_CACHE_DIR: `${directory}/cache`,
      },
    };
  },
  async (t, { run, call, path }) => {
    const snapshots = async () =>
      (JSON.parse(await run("snapshots", "--json")) as { id: string }[]).map(({ id }) => id);

    await t.test("restic creates a repository and its bucket", async () => {
      await run("init");
      assert.notEqual((await call(["init"])).code, 0, "a second init is refused");
    });

    await t.test("restic backs up files with unusual names, a large file and a symbolic link", async () => {
      await writeOddFiles(path("files"));
      await writeBigFile(path("files", "big.bin"));
      await symlink("plain.txt", path("files", "link"));
      await run("backup", path("files"));
      assert.equal((await snapshots()).length, 1);
    });

    await t.test("restic restores a backup", async () => {
      await run("restore", "latest", "--target", path("restored"));
      await assertSameFolders(path("restored", path("files")), path("files"));
      assert.equal(await readlink(path("restored", path("files"), "link")), "plain.txt");
    });

    await t.test("restic stores only changes in a second backup", async () => {
      await changeFiles(path("files"));
      const output = await run("backup", "--json", path("files"));
      const summary = JSON.parse(output.trim().split("\n").at(-1)!);
      assert.deepEqual([summary.files_new, summary.files_changed], [1, 2]);
      assert.ok(summary.data_added < 1_000_000, `${summary.data_added} bytes added`);
      assert.equal((await snapshots()).length, 2);
    });

    await t.test("restic check reads all data without an error", async () => {
      assert.match(await run("check", "--read-data", "--no-cache"), /no errors were found/);
    });

    await t.test("restic restores the newer backup and one file of the older backup", async () => {
      await run("restore", "latest", "--target", path("newer"));
      await assertSameFolders(path("newer", path("files")), path("files"));
      const [first] = await snapshots();
      const dumped = await run("dump", first!, path("files", "100%.txt"));
      assert.match(dumped, /^100%\.txt\n/);
    });

    await t.test("restic prunes the older backup, and the newer backup stays intact", async () => {
      await run("forget", "--keep-last", "1", "--prune", "--max-unused", "0");
      assert.equal((await snapshots()).length, 1);
      assert.match(await run("check", "--read-data", "--no-cache"), /no errors were found/);
      await run("restore", "latest", "--target", path("last"));
      await assertSameFolders(path("last", path("files")), path("files"));
    });

    await t.test("restic leaves no lock and can remove locks", async () => {
      assert.equal((await run("list", "locks", "--no-lock")).trim(), "");
      await run("unlock", "--remove-all");
    });
  },
);
