// Small bodies are checked in the same order whether they arrive with their headers or later. Also
// compares signatures with HMAC-SHA256 of node:crypto.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { EventEmitter, once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createCredentials } from "../../../src/access/keys/credentials.ts";
import { type ListenOptions, listen } from "../../../src/http/server/listen.ts";
import { encodeText, sha256, sign } from "../../../src/http/sigv4.ts";
import { openEngine } from "../../../src/open.ts";
import { createS3Handler } from "../../../src/s3/handler.ts";
import { s3PortOptions } from "../../../src/s3/server/port.ts";
import { collect, sampleBytes } from "../../support/bytes.ts";
import { type Raw, type Signed, type Signing, signRaw } from "../raw.ts";

type ShortRequests = NonNullable<ListenOptions["shortRequests"]>;

async function startListener(t: TestContext, shortRequests: ShortRequests = s3PortOptions.shortRequests) {
  const directory = await mkdtemp(join(tmpdir(), "store-small-"));
  const { engine, documents } = await openEngine(directory);
  await engine.createBucket("bucket");
  const credentials = createCredentials(documents, new Uint8Array(32), Date.now);
  const key = await credentials.create();
  const received: number[] = [];
  const handler = createS3Handler({
    ...{ engine, credentials, domains: [], now: Date.now, log: (line: string) => assert.fail(line) },
    onExchange: ({ bytesIn }) => received.push(bytesIn),
  });
  const arrivals = new EventEmitter();
  const listening = await listen(
    (request) => {
      arrivals.emit("head");
      return handler(request);
    },
    { host: "127.0.0.1", port: 0 },
    // With Node's internals, connections are read below their streams, which then have no events.
    { ...s3PortOptions, shortRequests, nodeInternals: "off" },
  );
  const url = `http://127.0.0.1:${listening.port}`;
  const onAccepted = (message: unknown) => {
    const { socket: accepted } = message as { readonly socket: Socket };
    // Node's HTTP server reads below the stream, which therefore has no events.
    if (shortRequests !== "node") accepted.on("data", () => arrivals.emit("bytes"));
  };
  subscribe("net.server.socket", onAccepted);
  const socket = connect(listening.port!, "127.0.0.1").setNoDelay(true);
  await once(socket, "connect");
  t.after(async () => {
    unsubscribe("net.server.socket", onAccepted);
    socket.destroy();
    await listening.drain();
    await engine.close();
    await rm(directory, { recursive: true });
  });
  const stored = async (name: string) => {
    const found = await engine.get("bucket", name);
    assert.equal(found.outcome, "found", name);
    return found.outcome === "found" ? collect(found.bytes.chunks()) : undefined;
  };
  const signed = (raw: Raw, signing: Partial<Signing> = {}) =>
    signRaw(url, raw, { key, form: "query", ...signing });
  return { socket, signed, stored, received, arrivals, answers: readAnswers(socket) };
}

/** Waits for `count` responses; returns their statuses and error codes in order. */
function readAnswers(socket: Socket): (count: number) => Promise<string[]> {
  let text = "";
  socket.on("data", (piece) => {
    text += piece.toString("latin1");
  });
  return async (count) => {
    const found = () =>
      [...text.matchAll(/HTTP\/1\.1 (\d+)[\s\S]*?content-length: (\d+)[\s\S]*?\r\n\r\n/gi)].map((match) => {
        const body = text.slice(
          match.index + match[0].length,
          match.index + match[0].length + Number(match[2]),
        );
        if (body.length < Number(match[2])) return undefined;
        return [match[1], /<Code>(\w+)</.exec(body)?.[1]].filter(Boolean).join(" ");
      });
    while (found().length < count || found().includes(undefined)) await once(socket, "data");
    const all = found() as string[];
    text = "";
    return all;
  };
}

function wire({ method, path, query, headers, body = new Uint8Array() }: Signed): Buffer {
  const target = `${path}?${query.map(([name, value]) => `${name}=${encodeText(value)}`).join("&")}`;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${method} ${target} HTTP/1.1\r\n${lines.join("")}Content-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

for (const shortRequests of ["direct when complete", "direct", "node"] as const) {
  test(`a small body is stored and counted identically whether it arrives with its headers, later or pipelined (${shortRequests})`, async (t) => {
    const { socket, signed, stored, received, arrivals, answers } = await startListener(t, shortRequests);
    const body = sampleBytes(1000);
    const put = (name: string, bytes: Uint8Array = body) =>
      wire(signed({ method: "PUT", path: `/bucket/${name}`, body: bytes }));

    socket.write(put("together"));
    assert.deepEqual(await answers(1), ["200"]);

    const apart = put("apart");
    const hasArrived = once(arrivals, shortRequests === "direct when complete" ? "bytes" : "head");
    socket.write(apart.subarray(0, -400));
    await hasArrived;
    socket.write(apart.subarray(-400));
    assert.deepEqual(await answers(1), ["200"]);

    socket.write(Buffer.concat([put("first"), put("none", new Uint8Array()), put("third")]));
    assert.deepEqual(await answers(3), ["200", "200", "200"]);

    for (const name of ["together", "apart", "first", "third"])
      assert.deepEqual(await stored(name), Buffer.from(body));
    assert.equal((await stored("none"))!.length, 0);
    assert.deepEqual(received.sort(), [0, 1000, 1000, 1000, 1000]);
  });
}

test("PutObject reports a failed condition before a wrong body hash", async (t) => {
  const { socket, signed, stored, answers } = await startListener(t);
  const body = sampleBytes(100);
  const payload = sha256("something else");
  const put = (headers: Record<string, string>, form: "header" | "query") =>
    wire(signed({ method: "PUT", path: "/bucket/key", headers, body }, { form, payload }));

  for (const form of ["header", "query"] as const) {
    socket.write(put({}, form));
    assert.deepEqual(await answers(1), ["400 XAmzContentSHA256Mismatch"]);
    socket.write(put({ "if-match": '"other"' }, form));
    assert.deepEqual(await answers(1), ["404 NoSuchKey"]);
  }
  socket.write(wire(signed({ method: "PUT", path: "/bucket/key", body }, { form: "header" })));
  assert.deepEqual(await answers(1), ["200"]);
  assert.deepEqual(await stored("key"), Buffer.from(body));
});

test("a presigned URL is verified for every request, also if the same URL was just accepted", async (t) => {
  const { socket, signed, answers } = await startListener(t);
  const body = sampleBytes(10);
  const headers = { "content-type": "text/plain" };
  const put = wire(signed({ method: "PUT", path: "/bucket/key", headers, body })).toString("latin1");
  const send = (text: string) => socket.write(text, "latin1");

  send(put);
  send(put.replace("text/plain", "text/html"));
  send(put.replace("PUT", "GET"));
  send(put.replace("\r\nContent-Length", "\r\nx-amz-meta-a: b\r\nContent-Length"));
  send(put);
  assert.deepEqual(await answers(5), [
    "200",
    "403 SignatureDoesNotMatch",
    "403 SignatureDoesNotMatch",
    "403 AccessDenied",
    "200",
  ]);
});

test("sign computes HMAC-SHA256 for any length of key and text", () => {
  for (const [keyBytes, textBytes] of [
    [0, 0],
    [32, 1],
    [32, 139],
    [63, 64],
    [64, 5000],
    [65, 10],
    [200, 100],
  ] as const) {
    const [key, text] = [sampleBytes(keyBytes), Buffer.from(sampleBytes(textBytes)).toString("latin1")];
    const expected = createHmac("sha256", key).update(text, "latin1").digest("hex");
    assert.equal(sign(key, text), expected);
    assert.equal(sign(key, text), expected);
  }
});
