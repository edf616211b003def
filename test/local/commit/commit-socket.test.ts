// Any process of the same user can connect to the commit server. An invalid message closes its
// connection with a warning and has no other effect.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { serialize } from "node:v8";
import { moveBodyChange } from "../../../src/local/commit/change.ts";
import { packChanges } from "../../../src/local/commit/change-codec.ts";
import { encodeFrame } from "../../../src/local/commit/framing.ts";
import { dataLayout } from "../../../src/local/disk/layout.ts";
import { openEngine } from "../../../src/open.ts";
import { bucketIds } from "../../support/disk/on-disk.ts";
import { temporaryDirectory } from "../../support/stores.ts";

async function openHost(t: TestContext) {
  const directory = await temporaryDirectory(t);
  const { engine, commitForOthers } = await openEngine(directory);
  t.after(() => engine.close());
  await engine.createBucket("bucket");
  await commitForOthers();
  const path = readFileSync(dataLayout(directory).commitServerFile, "utf8");
  return { engine, directory, path, id: bucketIds(directory).get("bucket")! };
}

async function connected(path: string): Promise<Socket> {
  const socket = connect(path);
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

/** Sends the bytes; resolves when the commit server has closed the connection. */
async function isRefused(path: string, bytes: Uint8Array): Promise<void> {
  const socket = await connected(path);
  const closed = once(socket, "close");
  socket.resume();
  socket.write(bytes);
  await closed;
}

function commit(bucketId: string, changes: Uint8Array, count = 1): Buffer {
  return encodeFrame({ kind: "commit", id: 1, groups: [{ bucketId, count, changes }] });
}

/** Returns a change in packed and serialized form. */
function packed(change: unknown): Buffer {
  const bytes = serialize(change);
  const length = Buffer.alloc(5);
  length.writeUInt32LE(bytes.length, 1);
  return Buffer.concat([length, bytes]);
}

const change = (mutation: unknown) => packed({ checks: [], mutations: [mutation], onlyFreesSpace: true });

test("an invalid message closes only its own connection, and the commit server continues", async (t) => {
  const { engine, path, id } = await openHost(t);
  const other = "0123456789abcdef";
  const put = { kind: "put object", key: Buffer.from("k"), version: "v", size: 1, record: "r" };
  const longer = Buffer.alloc(4);
  longer.writeUInt32LE(0xffff_fff0);
  const bad: Readonly<Record<string, Uint8Array>> = {
    "a length above the limit": longer,
    "bytes that cannot be deserialized": Buffer.from([3, 0, 0, 0, 1, 2, 3]),
    null: encodeFrame(null),
    "a text": encodeFrame("commit"),
    "a request without an id": encodeFrame({ kind: "delete bucket", name: "bucket" }),
    "a request to close the writer": encodeFrame({ kind: "close", id: 1 }),
    "a request to start another server": encodeFrame({ kind: "start server", id: 1 }),
    "a kind that is a property of every object": encodeFrame({ kind: "toString", id: 1 }),
    "no groups": encodeFrame({ kind: "commit", id: 1, groups: null }),
    "a bucket's id that is a path": commit("../../x", packChanges([])),
    "a wrong count of changes": commit(id, packChanges([]), 7),
    "a change of an unknown kind": commit(id, Buffer.from([9, 9, 9])),
    "a put that is cut off": commit(id, Buffer.from([1, ...new Array(31).fill(0), 255])),
    "a change that is null": commit(id, packed(null)),
    "a mutation of an unknown kind": commit(id, change({ kind: "drop" })),
    "a key that is an object": commit(id, change({ kind: "delete object", key: {} })),
    "a record that is a number": commit(id, change({ ...put, record: 7 })),
    "a body of another bucket": commit(id, change({ ...put, blob: `${other}.${other}.1`, stored: 1 })),
    "a copy of a version that is a number": commit(id, change({ ...put, kind: "put copy", of: 7 })),
    "a version with a NUL": commit(
      id,
      change({ kind: "delete version", key: Buffer.from("k"), version: "\0" }),
    ),
    "a delete marker without a record": commit(
      id,
      change({ kind: "put marker", key: Buffer.from("k"), version: "v" }),
    ),
    "a check of a version without a text": commit(
      id,
      packed({
        checks: [{ kind: "version", key: Buffer.from("k"), version: "v" }],
        mutations: [],
        onlyFreesSpace: true,
      }),
    ),
    "a protection that is a text": commit(
      id,
      packed({ checks: [], mutations: [], protection: "on", onlyFreesSpace: true }),
    ),
    "a body that is a path": commit(id, packChanges([moveBodyChange(Buffer.from("k"), "../x", "../y")])),
    "a bucket without a name": encodeFrame({ kind: "create bucket", id: 1, bucket: { name: "../x" } }),
    "a document without a text": encodeFrame({
      kind: "put document",
      id: 1,
      write: { kind: "k", name: "n" },
    }),
  };
  for (const [what, bytes] of Object.entries(bad)) {
    await isRefused(path, bytes);
    await engine.put("bucket", what, Buffer.from(what));
  }
  assert.equal((await engine.list("bucket")).objects.length, Object.keys(bad).length);
});

test("a client of the commit server still commits after another connection has sent an invalid request", async (t) => {
  const { directory, path } = await openHost(t);
  const guest = await openEngine(directory);
  await guest.engine.put("bucket", "before", Buffer.from("before"));
  await isRefused(path, encodeFrame({ kind: "close", id: 1 }));
  await guest.engine.put("bucket", "after", Buffer.from("after"));
  assert.equal((await guest.engine.head("bucket", "after"))?.size, 5);
  await guest.engine.close();
});

test("after an invalid reply the client closes the connection and commits by itself", async (t) => {
  const directory = await temporaryDirectory(t);
  const { engine } = await openEngine(directory);
  t.after(() => engine.close());
  const path = join(directory, "socket");
  const replies = [
    encodeFrame("what?"),
    encodeFrame({ id: 1, result: [["perhaps"]] }),
    encodeFrame({ id: 7, result: true }),
  ];
  const server = createServer((guest) => {
    guest.on("error", () => {});
    guest.once("data", () => guest.write(replies.shift() ?? Buffer.alloc(0)));
  });
  server.listen(path);
  await once(server, "listening");
  writeFileSync(dataLayout(directory).commitServerFile, path);
  for (let reply = 0; reply < 3; reply++)
    await assert.rejects(engine.createBucket("bucket"), { reason: "ServiceUnavailable", isNotDone: false });
  server.close();
  await engine.createBucket("bucket");
});

test("the commit server limits its connections, and only the owner can enter the socket's folder", async (t) => {
  const { engine, path } = await openHost(t);
  assert.equal(statSync(dirname(path)).mode & 0o777, 0o700);
  const sockets = Array.from({ length: 140 }, () => connect(path));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (const socket of sockets) socket.on("error", () => {}).resume();
  const closed = sockets.map((socket) => once(socket, "close"));
  // Connections beyond the limit are closed immediately.
  for (let count = 0; count < 12; count++) {
    const first = await Promise.race(closed.map((promise, index) => promise.then(() => index)));
    closed.splice(first, 1);
  }
  await engine.put("bucket", "key", Buffer.from("all is well"));
});
