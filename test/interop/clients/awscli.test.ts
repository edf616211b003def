// The AWS command line: its `s3` commands, and `s3api` for details they do not show.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import type { Key } from "../../s3/scene.ts";
import {
  assertFile,
  assertSameFolders,
  changeFiles,
  oddNames,
  partSize,
  writeBigFile,
  writeFiles,
  writeOddFiles,
} from "../files.ts";
import { proxyTo } from "../names.ts";
import { assertDone, domain, everydayJobs, temporaryCredentials } from "../scene.ts";

everydayJobs(
  "awscli",
  async ({ url, key }, directory) => {
    await writeFiles(directory, {
      ".aws/config": `[default]
region = us-east-1
output = json
s3 =
  signature_version = s3v4
  multipart_threshold = ${partSize}
  multipart_chunksize = ${partSize}
`,
      ".aws/credentials": `[default]
aws_access_key_id = ${key.accessKeyId}
aws_secret_access_key = ${key.secretAccessKey}
`,
    });
    const environment = { AWS_EC2_METADATA_DISABLED: "true", AWS_PAGER: "" };
    return { environment, args: ["--endpoint-url", url] };
  },
  async (t, { run, call, path, parts, s3 }) => {
    // The client prints nothing for an empty result, such as an empty listing.
    const json = async (...args: string[]) => JSON.parse((await run("s3api", ...args)) || "{}");
    const keysUnder = async (prefix: string) => {
      const listed = await json("list-objects-v2", "--bucket", "photos", "--prefix", prefix);
      return ((listed.Contents ?? []) as { Key: string }[]).map(({ Key }) => Key.slice(prefix.length));
    };

    await t.test("aws creates a bucket and lists all buckets", async () => {
      await run("s3", "mb", "s3://photos");
      const lines = (await run("s3", "ls")).trim().split("\n");
      assert.deepEqual(
        lines.map((line) => line.split(" ").at(-1)),
        ["bucket", "photos"],
      );
    });

    await t.test("aws works with temporary credentials, and assumes a role", async () => {
      const given = await temporaryCredentials(s3, "photos/temp/*:read,write,list");
      const variables = (key: Key) => ({
        AWS_ACCESS_KEY_ID: key.accessKeyId,
        AWS_SECRET_ACCESS_KEY: key.secretAccessKey,
        AWS_SESSION_TOKEN: key.sessionToken!,
      });
      await writeFiles(path("temp"), { "a.txt": "a" });
      const copy = (to: string, key: Key) =>
        call(["s3", "cp", path("temp", "a.txt"), to], { environment: variables(key) });
      assertDone(await copy("s3://photos/temp/a.txt", given), "aws s3 cp");
      assert.match((await copy("s3://photos/outside/a.txt", given)).stderr, /AccessDenied/);
      const role = ["--grant", "photos/role/*:write", "--trust-account", "default"];
      await s3.scene.shell.store("role", "create", "writer", ...role, "--data", s3.data);
      const arn = "arn:aws:iam::default:role/writer";
      const assumed = JSON.parse(
        await run("sts", "assume-role", "--role-arn", arn, "--role-session-name", "interop"),
      ).Credentials as Record<string, string>;
      const key = {
        accessKeyId: assumed.AccessKeyId!,
        secretAccessKey: assumed.SecretAccessKey!,
        sessionToken: assumed.SessionToken!,
      };
      assertDone(await copy("s3://photos/role/a.txt", key), "aws s3 cp as a role");
      assert.match((await copy("s3://photos/temp/a.txt", key)).stderr, /AccessDenied/);
      const identity = await call(["sts", "get-caller-identity"], { environment: variables(key) });
      assert.match(identity.stdout, /assumed-role\/writer\//, identity.stderr);
      await run("s3", "rm", "--recursive", "s3://photos/");
    });

    await t.test("aws uploads, lists and downloads files with unusual names", async () => {
      await writeOddFiles(path("odd"));
      await run("s3", "cp", "--recursive", "--quiet", path("odd"), "s3://photos/odd/");
      assert.deepEqual((await keysUnder("odd/")).sort(), [...oddNames].sort());
      const lines = (await run("s3", "ls", "--recursive", "--page-size", "5", "s3://photos/odd/")).trimEnd();
      assert.equal(lines.split("\n").length, oddNames.length);
      await run("s3", "cp", "--recursive", "--quiet", "s3://photos/odd/", path("odd back"));
      await assertSameFolders(path("odd back"), path("odd"));
    });

    await t.test("aws lists a folder as one line instead of its objects", async () => {
      const lines = (await run("s3", "ls", "s3://photos/odd/d")).trim();
      assert.equal(lines, "PRE deep/");
    });

    await t.test("aws uploads a large file in parts and downloads the same bytes", async () => {
      const bytes = await writeBigFile(path("big.bin"));
      await run("s3", "cp", "--quiet", path("big.bin"), "s3://photos/big.bin");
      assert.equal(await parts("photos", "big.bin"), 5);
      await run("s3", "cp", "--quiet", "s3://photos/big.bin", path("big back.bin"));
      await assertFile(path("big back.bin"), bytes);
    });

    await t.test("aws streams an object from stdin and to stdout", async () => {
      const input = "said by another program\n".repeat(1000);
      assertDone(await call(["s3", "cp", "-", "s3://photos/stream"], { input }), "s3 cp -");
      assert.equal(await run("s3", "cp", "s3://photos/stream", "-"), input);
    });

    await t.test("aws syncs changes and deletions in both directions", async () => {
      await run("s3", "sync", path("odd"), "s3://photos/sync/");
      await run("s3", "sync", "s3://photos/sync/", path("synced"));
      await assertSameFolders(path("synced"), path("odd"));
      await changeFiles(path("odd"));
      const output = await run("s3", "sync", "--delete", path("odd"), "s3://photos/sync/");
      assert.equal(output.match(/upload: /g)?.length, 3, output);
      assert.equal(output.match(/delete: /g)?.length, 1, output);
      await run("s3", "sync", "--delete", "--exact-timestamps", "s3://photos/sync/", path("synced"));
      await assertSameFolders(path("synced"), path("odd"));
      assert.equal(await run("s3", "sync", "--delete", path("odd"), "s3://photos/sync/"), "");
    });

    await t.test("aws keeps content type and metadata of an object through a copy and a move", async () => {
      const described = ["--content-type", "text/x-poem", "--metadata", "author=Jo,year=1912"];
      await run("s3", "cp", "--quiet", ...described, path("odd", "plain.txt"), "s3://photos/poem");
      await run("s3", "cp", "--quiet", "s3://photos/poem", "s3://photos/poem copy");
      await run("s3", "mv", "--quiet", "s3://photos/poem copy", "s3://photos/poem + moved");
      assert.equal((await call(["s3", "ls", "s3://photos/poem copy"])).code, 1);
      const head = await json("head-object", "--bucket", "photos", "--key", "poem + moved");
      assert.equal(head.ContentType, "text/x-poem");
      assert.deepEqual(head.Metadata, { author: "Jo", year: "1912" });
    });

    await t.test("aws copies and moves a large object on the server, in parts", async () => {
      await run("s3", "cp", "--quiet", "s3://photos/big.bin", "s3://bucket/copied ü.bin");
      await run("s3", "mv", "--quiet", "s3://bucket/copied ü.bin", "s3://bucket/moved.bin");
      assert.equal(await parts("bucket", "moved.bin"), 5);
      await run("s3", "cp", "--quiet", "s3://bucket/moved.bin", path("moved.bin"));
      await assertFile(path("moved.bin"), await readFile(path("big.bin")));
    });

    await t.test("aws stores an object's checksum and reads its attributes and a range", async () => {
      const object = ["--bucket", "photos", "--key", "summed"];
      await writeFiles(path(), { summed: "0123456789" });
      const sha256 = createHash("sha256").update("0123456789").digest("base64");
      const summed = ["--body", path("summed"), "--checksum-algorithm", "SHA256"];
      assert.equal((await json("put-object", ...object, ...summed)).ChecksumSHA256, sha256);
      const part = await json("get-object", ...object, "--range", "bytes=2-5", path("part"));
      assert.equal(part.ContentRange, "bytes 2-5/10");
      await assertFile(path("part"), Buffer.from("2345"));
      const requested = ["--object-attributes", "ETag", "ObjectSize", "Checksum"];
      const attributes = await json("get-object-attributes", ...object, ...requested);
      assert.deepEqual([attributes.ObjectSize, attributes.Checksum.ChecksumSHA256], [10, sha256]);
    });

    await t.test("aws encrypts an object with an SSE-C key, and cannot read it without the key", async () => {
      const key = createHash("sha256").update("a key of 32 bytes").digest();
      await writeFiles(path(), { "customer.key": key });
      const encryption = ["--sse-c", "AES256", "--sse-c-key", `fileb://${path("customer.key")}`];
      await run("s3", "cp", "--quiet", ...encryption, path("big.bin"), "s3://photos/secret");
      await run("s3", "cp", "--quiet", ...encryption, "s3://photos/secret", path("secret"));
      await assertFile(path("secret"), await readFile(path("big.bin")));
      await rm(path("secret"));
      assert.notEqual((await call(["s3", "cp", "s3://photos/secret", path("secret")])).code, 0);
    });

    await t.test("a URL presigned by aws returns the object, or 403 with an altered signature", async () => {
      const signed = (await run("s3", "presign", "s3://photos/poem + moved", "--expires-in", "60")).trim();
      const answer = await fetch(signed);
      assert.equal(answer.status, 200, await answer.text());
      assert.equal(answer.headers.get("content-type"), "text/x-poem");
      const altered = signed.replace(/Signature=./, (text) =>
        text.endsWith("0") ? "Signature=1" : "Signature=0",
      );
      assert.equal((await fetch(altered)).status, 403);
    });

    await t.test("aws uploads and downloads an object with virtual-hosted-style requests", async () => {
      const environment = { HTTP_PROXY: (await proxyTo(t, s3.url)).href };
      const named = ["--endpoint-url", `http://${domain}`, "s3"];
      const copy = (...args: string[]) => call([...named, "cp", "--quiet", ...args], { environment });
      assertDone(await copy(path("odd", 'it\'s "quoted".txt'), "s3://photos/named/a + b"), "cp to a name");
      assertDone(await copy("s3://photos/named/a + b", path("named")), "cp from a name");
      await assertFile(path("named"), await readFile(path("odd", 'it\'s "quoted".txt')));
    });

    await t.test("an object that aws stores is readable by a script", async () => {
      await run("s3", "cp", "--quiet", path("odd", "two words.txt"), "s3://bucket/two words.txt");
      const answer = await s3.server.ask("/two%20words.txt");
      assert.equal(answer.status, 200);
    });

    await t.test("aws reports InvalidAccessKeyId for an unknown access key", async () => {
      const environment = { AWS_ACCESS_KEY_ID: "AKIANOTOURS", AWS_SECRET_ACCESS_KEY: "none" };
      const { code, stderr } = await call(["s3", "ls", "s3://photos"], { environment });
      assert.notEqual(code, 0);
      assert.match(stderr, /InvalidAccessKeyId/);
    });

    await t.test("aws deletes a folder, and a bucket with its objects", async () => {
      await run("s3", "rm", "--recursive", "--quiet", "s3://photos/odd/");
      assert.deepEqual(await keysUnder("odd/"), []);
      assert.equal((await call(["s3", "rb", "s3://photos"])).code, 1);
      await run("s3", "rb", "--force", "s3://photos");
      assert.doesNotMatch(await run("s3", "ls"), /photos/);
    });
  },
);
