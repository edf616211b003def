// s3cmd: ListObjects version 1, uploads with its own metadata, and bucket settings.
import assert from "node:assert/strict";
import { mkdir, readFile } from "node:fs/promises";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import {
  assertFile,
  assertSameFolders,
  bigSize,
  changeFiles,
  oddNames,
  writeBigFile,
  writeFiles,
  writeOddFiles,
} from "../files.ts";
import { proxyTo } from "../names.ts";
import { domain, everydayJobs } from "../scene.ts";

everydayJobs(
  "s3cmd",
  async ({ url, key }, directory) => {
    const { host } = new URL(url);
    await writeFiles(directory, {
      ".s3cfg": `[default]
access_key = ${key.accessKeyId}
secret_key = ${key.secretAccessKey}
host_base = ${host}
host_bucket = ${host}
bucket_location = us-east-1
use_https = False
multipart_chunk_size_mb = 8
multipart_copy_chunk_size_mb = 8
multipart_max_chunks = 10000
progress_meter = False
`,
    });
    return { args: ["--config", `${directory}/.s3cfg`, "--no-progress"] };
  },
  async (t, { run, call, path, parts, s3 }) => {
    const keysUnder = async (prefix: string) => {
      const lines = (await run("ls", "--recursive", `s3://photos/${prefix}`)).split("\n");
      const address = `s3://photos/${prefix}`;
      return lines
        .filter((line) => line.includes(address))
        .map((line) => line.slice(line.indexOf(address) + address.length));
    };

    await t.test("s3cmd creates a bucket, lists it and shows its settings", async () => {
      await run("mb", "s3://photos");
      assert.match(await run("ls"), /s3:\/\/photos$/m);
      assert.match(await run("info", "s3://photos"), /Location: +\S/);
    });

    await t.test("s3cmd uploads, lists and downloads files with unusual names", async () => {
      await writeOddFiles(path("odd"));
      await run("put", "--recursive", `${path("odd")}/`, "s3://photos/odd/");
      assert.deepEqual((await keysUnder("odd/")).sort(), [...oddNames].sort());
      await mkdir(path("odd back"));
      await run("get", "--recursive", "s3://photos/odd/", `${path("odd back")}/`);
      await assertSameFolders(path("odd back"), path("odd"));
    });

    await t.test("s3cmd lists a folder as one line and counts the objects in it", async () => {
      assert.match(await run("ls", "s3://photos/odd/d"), /^ +DIR +s3:\/\/photos\/odd\/deep\/\n$/);
      assert.match(await run("du", "s3://photos/odd/"), new RegExp(` ${oddNames.length} objects`));
    });

    await t.test("s3cmd uploads a large file in parts and downloads the same bytes", async () => {
      const bytes = await writeBigFile(path("big.bin"));
      await run("put", path("big.bin"), "s3://photos/big.bin");
      assert.match(await run("info", "s3://photos/big.bin"), new RegExp(`File size: ${bigSize}`));
      assert.equal(await parts("photos", "big.bin"), 5);
      await run("get", "s3://photos/big.bin", path("big back.bin"));
      await assertFile(path("big back.bin"), bytes);
      assert.doesNotMatch(await run("multipart", "s3://photos"), /big/, "no upload is left open");
    });

    await t.test("s3cmd syncs changes and deletions in both directions", async () => {
      await run("sync", `${path("odd")}/`, "s3://photos/sync/");
      await run("sync", "s3://photos/sync/", `${path("synced")}/`);
      await assertSameFolders(path("synced"), path("odd"));
      await changeFiles(path("odd"));
      const output = await run("sync", "--delete-removed", `${path("odd")}/`, "s3://photos/sync/");
      assert.equal(output.match(/^upload: /gm)?.length, 3, output);
      assert.equal(output.match(/^delete: /gm)?.length, 1, output);
      await run("sync", "--delete-removed", "s3://photos/sync/", `${path("synced")}/`);
      await assertSameFolders(path("synced"), path("odd"));
    });

    await t.test("s3cmd syncs one bucket to another", async () => {
      await run("sync", "s3://photos/sync/", "s3://bucket/mirror/");
      await mkdir(path("mirror"));
      await run("get", "--recursive", "s3://bucket/mirror/", `${path("mirror")}/`);
      await assertSameFolders(path("mirror"), path("odd"));
    });

    await t.test(
      "s3cmd keeps content type and metadata of an object through a copy, a move and a new header",
      async () => {
        const described = ["--mime-type", "text/x-poem", "--add-header", "x-amz-meta-author: Jo"];
        await run("put", ...described, path("odd", "plain.txt"), "s3://photos/poem");
        await run("cp", "s3://photos/poem", "s3://photos/poem copy");
        await run("mv", "s3://photos/poem copy", "s3://photos/poem + moved");
        assert.deepEqual(await keysUnder("poem"), ["", " + moved"]);
        await run("modify", "--add-header", "Cache-Control: max-age=60", "s3://photos/poem + moved");
        const info = await run("info", "s3://photos/poem + moved");
        assert.match(info, /MIME type: +text\/x-poem/);
        assert.match(info, /x-amz-meta-author: +Jo/);
        await run("get", "s3://photos/poem + moved", path("poem"));
        await assertFile(path("poem"), await readFile(path("odd", "plain.txt")));
      },
    );

    await t.test("s3cmd copies and moves a large object on the server, in parts", async () => {
      await run("cp", "s3://photos/big.bin", "s3://bucket/copied ü.bin");
      await run("mv", "s3://bucket/copied ü.bin", "s3://bucket/moved.bin");
      assert.equal(await parts("bucket", "moved.bin"), 5);
      await run("get", "s3://bucket/moved.bin", path("moved.bin"));
      await assertFile(path("moved.bin"), await readFile(path("big.bin")));
    });

    await t.test("s3cmd sets, reads and deletes the CORS and lifecycle rules of a bucket", async () => {
      await writeFiles(path(), {
        "cors.xml":
          "<CORSConfiguration><CORSRule><AllowedOrigin>https://example.com</AllowedOrigin>" +
          "<AllowedMethod>GET</AllowedMethod></CORSRule></CORSConfiguration>",
      });
      await run("setcors", path("cors.xml"), "s3://photos");
      assert.match(await run("info", "s3://photos"), /CORS:.*https:\/\/example\.com/s);
      await run("delcors", "s3://photos");
      await run("expire", "--expiry-days", "30", "--expiry-prefix", "logs/", "s3://photos");
      assert.match(await run("getlifecycle", "s3://photos"), /<Prefix>logs\/<\/Prefix>/);
      await run("dellifecycle", "s3://photos");
    });

    await t.test(
      "a URL presigned by s3cmd returns the object, or 400 if it uses signature version 2",
      async () => {
        const signed = (await run("signurl", "s3://photos/poem", "+60")).trim();
        const isOld = /[?&]AWSAccessKeyId=/.test(signed);
        const answer = await fetch(signed);
        assert.equal(answer.status, isOld ? 400 : 200);
        if (isOld) assert.match(await answer.text(), /<Error><Code>InvalidRequest<\/Code>/);
      },
    );

    await t.test("s3cmd uploads, lists and downloads with virtual-hosted-style requests", async () => {
      const proxy = await proxyTo(t, s3.url);
      const config = (await readFile(path(".s3cfg"), "utf8"))
        .replace(/^host_base.*$/m, `host_base = ${domain}`)
        .replace(/^host_bucket.*$/m, `host_bucket = %(bucket)s.${domain}`);
      const proxied = `${config}proxy_host = ${proxy.hostname}\nproxy_port = ${proxy.port}\n`;
      await writeFiles(path(), { "named.s3cfg": proxied });
      const named = ["--config", path("named.s3cfg")];
      await run(...named, "put", path("odd", "plain.txt"), "s3://photos/named/a + b");
      assert.match(await run(...named, "ls", "s3://photos/named/"), /named\/a \+ b$/m);
      await run(...named, "get", "s3://photos/named/a + b", path("named"));
      await assertFile(path("named"), await readFile(path("odd", "plain.txt")));
    });

    await t.test("s3cmd lists and deletes more objects than fit on one page of a listing", async () => {
      const client = s3.client();
      const keys = Array.from({ length: 1100 }, (_, i) => `many/${i} + ü`);
      for (let at = 0; at < keys.length; at += 50) {
        const puts = keys
          .slice(at, at + 50)
          .map((Key) => new PutObjectCommand({ Bucket: "photos", Key, Body: Key }));
        await Promise.all(puts.map((put) => client.send(put)));
      }
      assert.equal((await keysUnder("many/")).length, keys.length);
      await run("del", "--recursive", "s3://photos/many/");
      assert.deepEqual(await keysUnder("many/"), []);
    });

    await t.test("an object that s3cmd stores is readable by a script", async () => {
      const answer = await s3.server.ask("/mirror/two%20words.txt");
      assert.equal(answer.status, 200);
    });

    await t.test("s3cmd deletes an object, a folder, and a bucket with its objects", async () => {
      await run("del", "s3://photos/poem");
      await run("del", "--recursive", "s3://photos/odd/");
      assert.deepEqual(await keysUnder("odd/"), []);
      assert.notEqual((await call(["rb", "s3://photos"])).code, 0);
      await run("rb", "--recursive", "s3://photos");
      assert.doesNotMatch(await run("ls"), /photos/);
    });
  },
);
