// `store serve --bucket-socket PATH=BUCKET`: the socket, its mode and removal, and refusals.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { lstat, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { ask } from "../../../script/client.ts";
import { assertRefused } from "../../refusals.ts";
import { openShellWithBucket, outcomeOf, program, type Shell } from "../../store.ts";

const ports = ["--s3-port", "0", "--console-port", "0"];

async function startServer(t: TestContext, shell: Shell, ...args: string[]) {
  const server = shell.start(["serve", ...ports, "--json", ...args]);
  t.after(() => server.kill("SIGKILL"));
  const ended = outcomeOf(server);
  const first = await Promise.race([once(createInterface(server.stdout), "line"), ended]);
  assert.ok(Array.isArray(first), JSON.stringify(first));
  return {
    announced: JSON.parse(String(first[0])) as {
      readonly bucketSockets: unknown;
      readonly console: { readonly url: string };
    },
    async stop(signal: NodeJS.Signals) {
      server.kill(signal);
      return ended;
    },
  };
}

async function send(socketPath: string, fields: object, bytes = ""): Promise<number | undefined> {
  const metadata = JSON.stringify({ version: 1, ...fields });
  const headers = { "cf-r2-metadata-size": metadata.length };
  const sent = request({ socketPath, method: "PUT", headers, agent: false });
  sent.end(metadata + bytes);
  const [response] = await once(sent, "response");
  response.resume();
  return response.statusCode;
}

test("serve offers buckets on sockets that only its user can open, and removes them at exit", async (t) => {
  const shell = await openShellWithBucket(t);
  await shell.store("bucket", "create", "other");
  const path = join(shell.directory, "a=b.sock");
  const other = join(shell.directory, "other.sock");
  const { announced, stop } = await startServer(
    t,
    shell,
    ...["--bucket-socket", "a=b.sock=photos", "--bucket-socket", `${other}=other`],
    ...["--request-log", "requests.log"],
  );
  assert.deepEqual(announced.bucketSockets, [
    { path, bucket: "photos" },
    { path: other, bucket: "other" },
  ]);
  assert.equal((await lstat(path)).mode & 0o777, 0o600);
  assert.equal(await send(path, { method: "put", object: "key" }, "hello"), 200);
  assert.equal(await send(other, { method: "delete", object: "key" }), 200);
  assert.equal(await shell.store("object", "get", "photos/key"), "hello");
  const { code } = await stop("SIGTERM");
  assert.equal(code, 0);
  for (const socket of [path, other]) await assert.rejects(lstat(socket), { code: "ENOENT" });
  const lines = (await readFile(join(shell.directory, "requests.log"), "utf8")).trimEnd().split("\n");
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)).map((one) => [one.face, one.operation, one.bucket, one.status]),
    [
      ["socket", "put", "photos", 200],
      ["socket", "delete", "other", 200],
    ],
  );
});

test("clients of many sockets that never read leave descriptors to the other ports", async (t) => {
  const shell = await openShellWithBucket(t);
  await writeFile(join(shell.directory, "large"), Buffer.alloc(1024 * 1024, "large"));
  await shell.store("object", "put", "photos/large", "large");
  const limited = ["-c", 'ulimit -n 1024; exec "$@"', "bash", process.execPath, program];
  const start: Shell["start"] = (args) => {
    const env = { PATH: process.env.PATH, HOME: shell.directory };
    return spawn("bash", [...limited, ...args], { cwd: shell.directory, env });
  };
  const paths = Array.from({ length: 8 }, (_, index) => join(shell.directory, `${index}.sock`));
  const options = paths.flatMap((path) => ["--bucket-socket", `${path}=photos`]);
  const { announced, stop } = await startServer(t, { ...shell, start }, ...options);
  const frame = JSON.stringify({ version: 1, method: "get", object: "large" });
  for (const path of paths) {
    for (let i = 0; i < 200; i++) {
      const socket = connect(path);
      t.after(() => socket.destroy());
      // The server may close connections beyond its limits.
      socket.on("error", () => {}).pause();
      await new Promise<void>((resolve) => socket.once("connect", resolve).once("close", () => resolve()));
      if (!socket.destroyed) socket.write(`GET / HTTP/1.1\r\nHost: x\r\ncf-r2-request: ${frame}\r\n\r\n`);
    }
  }
  const { port } = new URL(announced.console.url);
  for (let i = 0; i < 20; i++) {
    assert.equal((await ask(Number(port), { path: "/healthz" })).status, 200);
  }
  await stop("SIGKILL");
});

test("the socket of a server that was killed is replaced", async (t) => {
  const shell = await openShellWithBucket(t);
  const path = join(shell.directory, "photos.sock");
  const first = await startServer(t, shell, "--bucket-socket", "photos.sock=photos");
  await first.stop("SIGKILL");
  assert.ok((await lstat(path)).isSocket());
  const second = await startServer(t, shell, "--bucket-socket", "photos.sock=photos");
  assert.equal(await send(path, { method: "put", object: "key" }, "hello"), 200);
  await second.stop("SIGTERM");
});

test("a socket that cannot be served is refused with the reason, and nothing at its path changes", async (t) => {
  const shell = await openShellWithBucket(t);
  const at = (name: string) => join(shell.directory, name);
  await writeFile(at("file"), "text");
  await mkdir(at("folder"));
  await symlink("missing", at("link"));
  const listener = createServer().listen(at("used"));
  t.after(() => listener.close());
  await once(listener, "listening");
  const serve = (value: string) => ["serve", ...ports, "--bucket-socket", value];
  await assertRefused(shell, 2, [
    [serve("photos"), '--bucket-socket must be PATH=BUCKET, such as /run/photos.sock=photos, not "photos".'],
    [serve("=photos"), "must be PATH=BUCKET"],
    [serve("photos.sock="), "must be PATH=BUCKET"],
    [serve(`${"x".repeat(120)}=photos`), "The path of a socket can have", "Choose a shorter path"],
    [[...serve("a=photos"), "--bucket-socket", "./a=photos"], "twice"],
  ]);
  for (const [value, ...says] of [
    ["a=missing", 'there is no bucket "missing"', "store bucket create missing"],
    ["file=photos", "the path exists and is not a socket"],
    ["folder=photos", "the path exists and is not a socket"],
    ["link=photos", "the path exists and is not a socket"],
    ["used=photos", "another process is using it"],
    ["none/a=photos", "its folder does not exist"],
    ["file/a=photos", "its folder is not a folder"],
  ] as const) {
    const text = await shell.fails(1, serve(value));
    for (const words of says) assert.ok(text.includes(words), `${value}: ${text}`);
  }
  assert.ok((await lstat(at("file"))).isFile());
  assert.ok((await lstat(at("link"))).isSymbolicLink());
  assert.ok((await lstat(at("used"))).isSocket());
});
