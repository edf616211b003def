// A server that systemd starts: it sends its state to the socket of NOTIFY_SOCKET.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { openShell, outcomeOf } from "../store.ts";

const ports = ["--s3-port", "0", "--console-port", "0"];

/** Prints every datagram that arrives at a Unix socket: what systemd would receive. */
const listener = `
import socket, sys
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1])
print("listening", flush=True)
while True:
    data = receiver.recv(4096)
    if data: print(data.decode().strip().replace("\\n", " "), flush=True)
`;

const isMissing = (program: string) => spawnSync(program, ["--version"]).error !== undefined;
const skip = ["python3", "systemd-notify"].some(isMissing) && "python3 or systemd-notify is not installed";

test("a server notifies systemd when it is ready and when it stops", { skip }, async (t) => {
  const shell = await openShell(t);
  const socket = join(shell.directory, "notify");
  const receiver = spawn("python3", ["-c", listener, socket], { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => receiver.kill());
  const lines = createInterface(receiver.stdout)[Symbol.asyncIterator]();
  assert.equal((await lines.next()).value, "listening");
  const environment = { NOTIFY_SOCKET: socket };
  const server = shell.start(["serve", ...ports, "--json"], { environment });
  const ended = outcomeOf(server);
  assert.equal((await lines.next()).value, "READY=1");
  server.kill("SIGTERM");
  assert.equal((await ended).code, 0);
  // A barrier message of systemd-notify may be in between.
  const { value: next } = await lines.next();
  assert.equal(next === "BARRIER=1" ? (await lines.next()).value : next, "STOPPING=1");
});

test("a server whose notification fails says why and serves", async (t) => {
  const shell = await openShell(t);
  const program = join(shell.directory, "systemd-notify");
  await writeFile(program, '#!/bin/sh\necho "$NOTIFY_SOCKET $1 $STORE_SECRET_KEY" >> called\nexit 1\n');
  await chmod(program, 0o755);
  const environment = {
    NOTIFY_SOCKET: "/nowhere",
    STORE_SECRET_KEY: "0123456789abcdef".repeat(4),
    PATH: `${shell.directory}:${process.env.PATH}`,
  };
  const server = shell.start(["serve", ...ports], { environment });
  const ended = once(server, "close");
  server.stdout.resume();
  server.stderr.setEncoding("utf8").on("data", (text: string) => {
    if (text.includes("systemd was not notified of READY=1")) server.kill("SIGTERM");
  });
  assert.deepEqual(await ended, [0, null]);
  assert.equal(
    await readFile(join(shell.directory, "called"), "utf8"),
    "/nowhere READY=1 \n/nowhere STOPPING=1 \n",
  );
});
