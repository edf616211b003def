// WebSockets of clients to sandboxed scripts, from end to end.
import assert from "node:assert/strict";
import { test } from "node:test";
import { converse, restOf } from "../client.ts";
import { openScene, scriptScene, writeScript } from "../scene.ts";
import { openWebSocket } from "../web-socket.ts";
import { skip } from "./requirements.ts";

const echo = (version: string) => `
export default {
  async fetch(request, env) {
    if (request.headers.get("upgrade") !== "websocket") return new Response("Upgrade: none", { status: 426 });
    if (new URL(request.url).pathname === "/refused") {
      return new Response(new Blob(["not you"]).stream(), { status: 401, headers: { "x-why": "test" } });
    }
    const { 0: client, 1: server } = new WebSocketPair();
    server.binaryType = "arraybuffer";
    server.accept();
    server.addEventListener("message", async ({ data }) => {
      if (data === "close") return server.close(4001, "by the script");
      if (data === "who") return server.send(${JSON.stringify(version)} + request.url + request.headers.get("x-forwarded-for"));
      if (data === "put") { await env.BUCKET.put("key", "stored"); data = await (await env.BUCKET.get("key")).text(); }
      server.send(data);
    });
    return new Response(null, { status: 101, webSocket: client, headers: { "sec-websocket-protocol": "chat" } });
  },
};`;

const handshake = (path: string) => [
  ...[`GET ${path} HTTP/1.1`, "Host: h", "Connection: Upgrade", "Upgrade: websocket"],
  ...["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", ""],
];

test("a sandboxed script accepts WebSockets, which a reload closes", { skip }, async (t) => {
  const scene = await scriptScene(t, echo("one "), 'isolation = "sandbox"');
  const server = await scene.start("dev");
  const url = `ws://127.0.0.1:${server.port}/room?a=b`;
  const first = openWebSocket(t, url, "chat");
  assert.deepEqual(await first.next(), { kind: "open", protocol: "chat" });
  first.send({ text: "who" });
  const seen = `one http://127.0.0.1:${server.port}/room?a=b127.0.0.1`;
  assert.deepEqual(await first.next(), { kind: "text", data: seen });
  first.send({ bytes: 3_000_000 });
  assert.deepEqual(await first.next(), { kind: "bytes", size: 3_000_000 });
  first.send({ text: "put" });
  assert.deepEqual(await first.next(), { kind: "text", data: "stored" });
  first.send({ text: "close" });
  assert.deepEqual(await first.next(), { kind: "close", code: 4001, reason: "by the script" });

  const second = openWebSocket(t, url, "chat");
  assert.equal((await second.next()).kind, "open");
  await scene.write("src/index.ts", echo("two "));
  const events = [await second.next(), await second.next().catch(() => undefined)];
  assert.deepEqual(events.at(events[0]?.kind === "error" ? 1 : 0), { kind: "close", code: 1006, reason: "" });
  await server.told(/changed: reloaded/);

  const third = openWebSocket(t, url, "chat");
  await third.next();
  third.send({ text: "who" });
  assert.match(JSON.stringify(await third.next()), /two /);
  third.send({ close: 4002 });
  assert.deepEqual(await third.next(), { kind: "close", code: 4002, reason: "by the client" });

  const refused = await restOf(await converse(server.port, ...handshake("/refused")));
  assert.match(refused, /^HTTP\/1\.1 401 Unauthorized\r\n[\s\S]*x-why: test[\s\S]*\r\n\r\n[\s\S]*not you/i);
  assert.equal((await server.ask("/")).status, 426);
  // An open WebSocket does not keep the server from ending.
  const last = openWebSocket(t, url, "chat");
  await last.next();
  assert.equal((await server.stop()).code, 0);
});

test("a request for a WebSocket to a script in a process is an ordinary request", { skip }, async (t) => {
  const scene = await openScene(t);
  const source = `export default { fetch: (request) => new Response("plain " + request.headers.get("upgrade")) };`;
  const configs = [
    await writeScript(scene, { name: "own", source, config: 'routes = ["own.example/*"]' }),
    await writeScript(scene, { name: "guest", source: echo(""), config: 'isolation = "sandbox"' }),
  ];
  const server = await scene.start("serve", { configs });
  const lines = handshake("/").map((line) => (line === "Host: h" ? "Host: own.example" : line));
  const answer = await restOf(await converse(server.port, ...lines.toSpliced(-1, 0, "Connection: close")));
  assert.match(answer, /^HTTP\/1\.1 200 OK\r\n[\s\S]*plain null/);
  const url = `ws://127.0.0.1:${server.port}/`;
  const socket = openWebSocket(t, url, "chat");
  assert.equal((await socket.next()).kind, "open");
});
