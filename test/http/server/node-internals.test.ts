// Undocumented members of Node: detection by the probe, and identical uploads with and without
// them.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { Agent, IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { createEngine } from "../../../src/engine/create.ts";
import { type HttpHandler, listen } from "../../../src/http/server/listen.ts";
import {
  type NodeInternalsSetting,
  openNodeInternals,
  probeInternals,
  probeThisNode,
} from "../../../src/http/server/node-internals.ts";
import { createMemoryBlobs } from "../../../src/memory/blobs.ts";
import { createMemoryRecords } from "../../../src/memory/records.ts";
import { ask } from "../../script/client.ts";
import { collect } from "../../support/bytes.ts";

const settings: readonly NodeInternalsSetting[] = ["on", "off"];
const missing = { parser: false, handle: false, read: false, head: false, onread: undefined };

test("the probe for Node's internals finds none on objects without the expected members", () => {
  assert.deepEqual(probeInternals({ socket: {}, message: {}, response: {} }), missing);
  const socket = { _handle: null, _paused: false, parser: { execute: () => 0 } };
  const response = { _header: null, _headerSent: true };
  const found = probeInternals({ socket, message: { _read: () => {} }, response });
  assert.deepEqual(found, { ...missing, handle: true, read: true });
});

test("the probe for Node's internals requires a parser with a body callback", () => {
  const message = { _read: () => {} };
  const parser = Object.assign(Object.create({ constructor: { kOnBody: 3 } }), { execute: () => 0 });
  const socket = { _handle: null, _paused: false, parser };
  assert.equal(probeInternals({ socket, message, response: {} }).parser, false);
  parser[3] = () => 0;
  assert.equal(probeInternals({ socket, message, response: {} }).parser, true);
  assert.equal(probeInternals({ socket, message: {}, response: {} }).parser, false);
});

test("a request without Node's HTTP parser is read through Node's stream, whatever the setting", () => {
  for (const setting of settings) {
    const internals = openNodeInternals(setting);
    assert.equal(internals.createSocketReader(new IncomingMessage(new Socket())), undefined);
  }
});

test("no method of a request is replaced if the use of Node's internals is off", () => {
  const message = new IncomingMessage(new Socket());
  assert.equal(openNodeInternals("off").throttle(message), undefined);
  assert.equal(Object.hasOwn(message, "_read"), false);
  const throttle = openNodeInternals("on").throttle(message);
  assert.equal(Object.hasOwn(message, "_read"), true);
  throttle?.end();
});

test("a short response is identical with the use of Node's internals on and off", async (t) => {
  for (const setting of settings) {
    const handler: HttpHandler = () => ({ status: 200, headers: [["x-a", "b"]], body: "grüße" });
    const { port } = await listenTo(t, handler, setting);
    const answer = await ask(port, {});
    assert.deepEqual([answer.text, answer.headers["content-length"]], ["grüße", "7"]);
  }
});

async function listenTo(t: TestContext, handler: HttpHandler, nodeInternals: NodeInternalsSetting) {
  const listening = await listen(handler, { host: "127.0.0.1", port: 0 }, { nodeInternals });
  t.after(() => listening.drain());
  return { port: listening.port! };
}

/** Starts a server that stores the body of each PUT in memory and responds with its etag. */
async function serveUploads(t: TestContext, setting: NodeInternalsSetting) {
  const engine = createEngine({ records: createMemoryRecords(), blobs: createMemoryBlobs() });
  await engine.createBucket("bucket");
  const { port } = await listenTo(
    t,
    async (request) => {
      const length = request.header("content-length");
      const source = {
        ...{ length: length === undefined ? undefined : Number(length), chunks: request.body },
        ...{ directReader: request.directReader!, cancel: async () => {} },
      };
      const outcome = await engine.put("bucket", request.target.slice(1), source);
      return { status: 200, headers: [], body: outcome.outcome === "stored" ? outcome.record.etag : "" };
    },
    setting,
  );
  t.after(() => engine.close());
  return { engine, port };
}

for (const setting of settings) {
  test(`uploads of every size with Content-Length are stored completely (internals ${setting})`, async (t) => {
    const { engine, port } = await serveUploads(t, setting);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => agent.destroy());
    for (const length of [0, 1, 4096, 4097, 70_000, 600_000, 9_000_001]) {
      const body = randomBytes(length);
      const headers = { "content-length": String(length) };
      const answer = await ask(port, { method: "PUT", path: `/${length}`, headers, body, agent });
      assert.equal(answer.text, createHash("md5").update(body).digest("hex"), `${length} bytes`);
      const found = await engine.get("bucket", String(length));
      assert.ok(found.outcome === "found");
      assert.ok(Buffer.from(await collect(found.bytes.chunks())).equals(body), `${length} bytes`);
    }
  });

  test(`forty concurrent uploads are stored completely (internals ${setting})`, async (t) => {
    const { engine, port } = await serveUploads(t, setting);
    const bodies = Array.from({ length: 40 }, () => randomBytes(700_000));
    await Promise.all(
      bodies.map(async (body, i) => {
        const headers = { "content-length": String(body.length) };
        const answer = await ask(port, { method: "PUT", path: `/${i}`, headers, body });
        assert.equal(answer.text, createHash("md5").update(body).digest("hex"));
        const found = await engine.get("bucket", String(i));
        assert.ok(found.outcome === "found");
        assert.ok(Buffer.from(await collect(found.bytes.chunks())).equals(body));
      }),
    );
  });
}

test("this version of Node has every internal member that the server uses", () => {
  const { onread, ...others } = probeThisNode();
  assert.deepEqual(others, { parser: true, handle: true, read: true, head: true });
  assert.equal(typeof onread?.buffer, "symbol");
  assert.equal(typeof onread?.callback, "symbol");
});

test("a body on a plain connection bypasses Node's parser, unless the use of internals is off", async (t) => {
  const found: boolean[] = [];
  const onRequest = (event: unknown) => {
    const { request } = event as { readonly request: IncomingMessage };
    for (const setting of settings) {
      const reader = openNodeInternals(setting).createSocketReader(request);
      found.push(reader !== undefined);
      reader?.close();
    }
  };
  subscribe("http.server.request.start", onRequest);
  t.after(() => unsubscribe("http.server.request.start", onRequest));
  const { port } = await serveUploads(t, "on");
  await ask(port, { method: "PUT", path: "/a", body: "abc" });
  assert.deepEqual(found, [true, false]);
});
