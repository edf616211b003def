// git-annex: its own test of remotes, and files in parts that are moved away and fetched back.
import assert from "node:assert/strict";
import { cp } from "node:fs/promises";
import { assertSameFolders, writeBigFile, writeOddFiles } from "../files.ts";
import { proxyTo } from "../names.ts";
import { everydayJobs } from "../scene.ts";

everydayJobs(
  "git-annex",
  async ({ key }) => ({
    environment: {
      AWS_ACCESS_KEY_ID: key.accessKeyId,
      AWS_SECRET_ACCESS_KEY: key.secretAccessKey,
    },
  }),
  async (t, { run, path, parts, s3 }) => {
    // git-annex signs the host without the port, so it needs a proxy that sends the same host.
    const { hostname, port } = await proxyTo(t, s3.url, (headers) => ({ ...headers, host: "127.0.0.1" }));
    const annex = (...args: string[]) => run("-C", path("repository"), "annex", ...args);
    const settings = {
      "user.name": "annex",
      "user.email": "annex@example.com",
      "annex.security.allowed-ip-addresses": hostname,
      "annex.addunlocked": "true",
    };
    for (const [name, value] of Object.entries(settings)) await run("config", "--global", name, value);

    await t.test("git-annex creates a remote and its bucket", async () => {
      await run("init", "-q", path("repository"));
      await annex("init", "test");
      const place = ["bucket=annex", `host=${hostname}`, `port=${port}`, "protocol=http"];
      const form = ["requeststyle=path", "signature=v4", "partsize=10MiB", "encryption=none"];
      await annex("initremote", "store", "type=S3", ...place, ...form);
    });

    await t.test("git-annex passes its own test of remotes", async () => {
      const output = await annex("testremote", "--fast", "store");
      const passed = output.match(/: +OK\b/g)?.length ?? 0;
      assert.ok(passed > 100, `${passed} tests passed\n${output}`);
    });

    await t.test("git-annex moves files to the remote and gets them back", async () => {
      await writeOddFiles(path("files"));
      await writeBigFile(path("files", "big.bin"));
      await cp(path("files"), path("repository", "files"), { recursive: true });
      await annex("add", "files");
      await annex("move", "--to", "store", "files");
      const big = JSON.parse(await annex("whereis", "--json", "files/big.bin")) as { key: string };
      assert.ok((await parts("annex", big.key)) > 1);
      await annex("fsck", "--from", "store", "files");
      await annex("get", "files");
      await assertSameFolders(path("repository", "files"), path("files"));
    });

    await t.test("git-annex drops files from the remote", async () => {
      await annex("drop", "--from", "store", "files");
      assert.equal((await annex("find", "--in", "store")).trim(), "");
    });
  },
);
