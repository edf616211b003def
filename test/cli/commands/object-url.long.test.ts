// `store object url`: presigned URLs, their expiry, and error messages.
import assert from "node:assert/strict";
import { test } from "node:test";
import { s3Scene } from "../../s3/scene.ts";
import { assertRefused } from "../refusals.ts";
import { filesIn, openShell, openShellWithBucket } from "../store.ts";

interface Made {
  readonly bucket: string;
  readonly key: string;
  readonly method: string;
  readonly url: string;
  readonly expiresIn: number;
}

test("a presigned URL allows its own method and object, and nothing else", async (t) => {
  const { scene, url: endpoint } = await s3Scene(t, "serve");
  const made = async (...args: string[]) =>
    (await scene.shell.store("object", "url", "--endpoint", endpoint, ...args)).trimEnd();
  const key = "a folder/ä+b?.txt";
  const put = await made(`bucket/${key}`, "--method", "put");
  const get = await made(`bucket/${key}`);
  assert.equal((await fetch(get)).status, 404, "a URL can be created for a missing object");
  assert.equal((await fetch(put, { method: "PUT", body: "Hello" })).status, 200);
  assert.equal(await (await fetch(get)).text(), "Hello");
  assert.equal(await scene.shell.store("object", "get", `bucket/${key}`), "Hello");
  assert.equal((await fetch(get, { method: "DELETE" })).status, 403);
  const head = await made(`bucket/${key}`, "--method", "HEAD");
  assert.equal((await fetch(head, { method: "HEAD" })).headers.get("content-length"), "5");
  const remove = await made(`bucket/${key}`, "--method", "DELETE");
  assert.equal((await fetch(remove, { method: "DELETE" })).status, 204);

  const short = await made("bucket/x", "--expires", "1s");
  await new Promise((resolve) => setTimeout(resolve, 2100));
  const late = await fetch(short);
  assert.equal(late.status, 403);
  assert.match(await late.text(), /<Message>Request has expired<\/Message>/);
});

test("a presigned URL has the permissions of its access key, and fails once the key is disabled or deleted", async (t) => {
  const { scene, url: endpoint, newKey } = await s3Scene(t, "serve");
  await scene.write("hello.txt", "Hello");
  await scene.shell.store("object", "put", "bucket/hello.txt", "hello.txt");
  const made = async (...args: string[]) =>
    (await scene.shell.store("object", "url", "bucket/hello.txt", "--endpoint", endpoint, ...args)).trimEnd();
  const lister = await newKey("--grant", "bucket:list");
  assert.equal((await fetch(await made("--key", lister.accessKeyId))).status, 403);
  const reader = await newKey("--grant", "bucket:read");
  const url = await made("--key", reader.accessKeyId);
  assert.equal((await fetch(url)).status, 200);
  await scene.shell.store("key", "disable", reader.accessKeyId);
  assert.equal((await fetch(url)).status, 403);
  const disabled = ["object", "url", "bucket/hello.txt", "--key", reader.accessKeyId];
  assert.match(await scene.shell.fails(1, disabled), /^error: The access key "STORE\w{15}" is disabled\.\n/);
  await scene.shell.store("key", "delete", reader.accessKeyId);
  assert.equal((await fetch(url)).status, 403);

  const own = await made();
  const [, id = ""] = /X-Amz-Credential=(STORE\w{15})/.exec(own) ?? [];
  assert.ok((await made()).includes(id), "the store's own key is reused");
  await scene.shell.store("key", "delete", id);
  assert.equal((await fetch(own)).status, 403);
  assert.equal((await fetch(await made())).status, 200, "a deleted key is created again");
});

test("object url --json prints method and lifetime, and normalizes the endpoint", async (t) => {
  const shell = await openShellWithBucket(t);
  const made = async (...args: string[]) =>
    JSON.parse(await shell.store("object", "url", "photos/cat.jpg", "--json", ...args)) as Made;
  const { url, ...rest } = await made();
  assert.deepEqual(rest, { bucket: "photos", key: "cat.jpg", method: "GET", expiresIn: 3600 });
  assert.match(url, /^http:\/\/127\.0\.0\.1:9000\/photos\/cat\.jpg\?X-Amz-Algorithm=AWS4-HMAC-SHA256&/);
  assert.equal((await made("--expires", "7d")).expiresIn, 604_800);
  for (const [given, sent] of [
    ["https://s3.example.com/", "https://s3.example.com"],
    ["HTTPS://S3.Example.com:443", "https://s3.example.com"],
    ["http://s3.example.com:80", "http://s3.example.com"],
    ["http://[::1]:9000", "http://[::1]:9000"],
  ] as const) {
    assert.ok((await made("--endpoint", given)).url.startsWith(`${sent}/photos/cat.jpg?`), given);
  }
});

test("object url refuses invalid arguments before anything is created", async (t) => {
  const bare = await openShell(t);
  await assertRefused(bare, 1, [
    [["object", "url", "photos/a"], 'There is no data directory at ".store"', "store bucket create <name>"],
  ]);
  const endpointWords = "--endpoint must be a URL without a path, such as https://s3.example.com";
  await assertRefused(bare, 2, [
    [["object", "url"], "needs <bucket>/<key>"],
    [["object", "url", "photos"], '"photos" is not an object', "For example: photos/cat.jpg"],
    [["object", "url", "photos/"], '"photos/" has no key'],
    [
      ["object", "url", "photos/a", "--method", "POST"],
      "--method must be GET, HEAD, PUT or DELETE",
      '"POST"',
    ],
    [["object", "url", "photos/a", "--expires", "8d"], '--expires must be at most 7d, not "8d"'],
    [["object", "url", "photos/a", "--expires", "604801s"], "--expires must be at most 7d"],
    [["object", "url", "photos/a", "--expires", "0s"], '"0s" is zero'],
    [["object", "url", "photos/a", "--expires", "soon"], '"soon" is not a duration'],
    [["object", "url", "photos/a", "--endpoint", "s3.example.com"], endpointWords],
    [["object", "url", "photos/a", "--endpoint", "ftp://s3.example.com"], endpointWords],
    [["object", "url", "photos/a", "--endpoint", "https://s3.example.com/path"], endpointWords],
    [["object", "url", "photos/a", "--endpoint", "https://me@s3.example.com"], endpointWords],
    [["object", "url", "photos/a", "--exipres", "1h"], "has no option --exipres", "Did you mean --expires?"],
  ]);
  assert.deepEqual(await filesIn(bare.directory), {}, "nothing was created");

  const shell = await openShellWithBucket(t);
  await assertRefused(shell, 1, [
    [["object", "url", "fotos/a"], 'There is no bucket "fotos"', "store bucket list"],
    [
      ["object", "url", "photos/a", "--key", "STOREAAAAAAAAAAAAAAA"],
      'There is no access key "STOREAAAAAAAAAAAAAAA"',
      "store key list",
    ],
    [["object", "url", "photos/a", "--key", "nonsense"], 'There is no access key "nonsense"'],
  ]);
  await assertRefused(shell, 2, [
    [["object", "url", `photos/${"k".repeat(1025)}`], "The key is too long: the maximum is 1,024 bytes"],
  ]);
});
