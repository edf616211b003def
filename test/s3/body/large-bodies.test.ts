// Large bodies are stored and refused identically in every form, with and without TLS, whether they
// are read into the engine's buffers or as a stream. Small and large chunks are decoded the same way.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { connect as connectTls } from "node:tls";
import { createCredentials } from "../../../src/access/keys/credentials.ts";
import type { DirectReader } from "../../../src/engine/engine.ts";
import { listen } from "../../../src/http/server/listen.ts";
import { createTlsSource } from "../../../src/http/tls/tls.ts";
import { openEngine } from "../../../src/open.ts";
import { createChunkDecoder, unchunk } from "../../../src/s3/body/aws-chunked.ts";
import { readChunkedInto } from "../../../src/s3/body/direct-readers.ts";
import { createS3Handler } from "../../../src/s3/handler.ts";
import { s3PortOptions } from "../../../src/s3/server/port.ts";
import { collect, sampleBytes } from "../../support/bytes.ts";
import { makeCertificate } from "../../support/certificate.ts";
import { type ChunkFault, type Signed, signChunked, signRaw, streamingForms } from "../raw.ts";

const path = "/bucket/large";

async function startListener(t: TestContext, isSecure: boolean) {
  const directory = await mkdtemp(join(tmpdir(), "store-large-"));
  const { engine, documents } = await openEngine(directory);
  await engine.createBucket("bucket");
  const credentials = createCredentials(documents, new Uint8Array(32), Date.now);
  const key = await credentials.create();
  const handler = createS3Handler({
    ...{ engine, credentials, domains: [], now: Date.now, log: (line: string) => assert.fail(line) },
  });
  const ticketKeys = Buffer.alloc(48, 1).toString("base64");
  const tls = isSecure ? createTlsSource({ ...makeCertificate(), ticketKeys }) : undefined;
  const listening = await listen(handler, { host: "127.0.0.1", port: 0 }, { ...s3PortOptions, tls });
  const port = listening.port!;
  const socket: Socket = isSecure
    ? connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false })
    : connect(port, "127.0.0.1");
  t.after(async () => {
    socket.destroy();
    await listening.drain();
    await engine.close();
    await rm(directory, { recursive: true });
  });
  const stored = async () => {
    const found = await engine.get("bucket", "large");
    return found.outcome === "found" ? collect(found.bytes.chunks()) : undefined;
  };
  return { key, socket, stored, url: `http${isSecure ? "s" : ""}://127.0.0.1:${port}` };
}

/** Sends the request on the connection; returns the status and the error code. */
function exchange(socket: Socket, { headers, body }: Signed): Promise<string> {
  const lines = Object.entries({ ...headers, "content-length": String(body!.length) });
  socket.write(
    `PUT ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`,
  );
  socket.write(body!);
  return new Promise((resolve, reject) => {
    let text = "";
    const onData = (piece: Buffer) => {
      text += piece.toString("latin1");
      const head = text.indexOf("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
      if (head === -1 || text.length < head + 4 + length) return;
      socket.off("data", onData);
      resolve(`${text.slice(9, 12)} ${/<Code>(\w+)/.exec(text)?.[1] ?? ""}`.trim());
    };
    socket.on("data", onData);
    socket.once("error", reject);
  });
}

for (const isSecure of [false, true]) {
  test(`large bodies are stored in every form, and refused if a signature is wrong${isSecure ? ", over TLS" : ""}`, async (t) => {
    const { key, socket, stored, url } = await startListener(t, isSecure);
    const raw = { method: "PUT", path };
    let size = 600_000;
    for (const payload of Object.keys(streamingForms)) {
      const body = sampleBytes(size++);
      assert.equal(await exchange(socket, signChunked(url, { ...raw, body }, key, payload)), "200", payload);
      assert.deepEqual(await stored(), body, payload);
      if (!streamingForms[payload]!.isSigned) continue;
      const wrong = signChunked(url, { ...raw, body }, key, payload, "wrong signature");
      assert.equal(await exchange(socket, wrong), "403 SignatureDoesNotMatch", payload);
    }
    const body = sampleBytes(size);
    const signed = signRaw(url, { ...raw, body }, { key, form: "header" });
    assert.equal(await exchange(socket, signed), "200");
    assert.deepEqual(await stored(), body);
    const changed = { ...signed, body: sampleBytes(size).fill(1, size - 1) };
    assert.equal(await exchange(socket, changed), "400 XAmzContentSHA256Mismatch");
    assert.deepEqual(await stored(), body);
  });
}

const accessKey = { accessKeyId: "id", secretAccessKey: "secret" };

/** Reads `bytes` as a connection does: full buffers until the end. */
function readerOf(bytes: Uint8Array): DirectReader {
  let at = 0;
  return {
    async readInto(into) {
      const piece = bytes.subarray(at, at + into.length);
      into.set(piece);
      at += piece.length;
      return piece.length;
    },
    close() {},
  };
}

async function readAll(reader: DirectReader, bufferBytes: number): Promise<string> {
  const hash = createHash("sha256");
  const buffer = Buffer.from(new SharedArrayBuffer(bufferBytes));
  for (let count = bufferBytes; count === bufferBytes; ) {
    count = await reader.readInto(buffer);
    hash.update(buffer.subarray(0, count));
  }
  return hash.digest("hex");
}

async function* pieces(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const settle = (work: Promise<string>) =>
  work.catch((error: { code?: string }) => error.code ?? String(error));

test("chunked bodies decode to the same bytes, or fail alike, in pieces and buffers of any size", async () => {
  const body = sampleBytes(8300);
  const faults: ChunkFault[] = ["none", "truncated", "oversized", "wrong signature", "no end", "no trailer"];
  for (const [payload, { isSigned, hasTrailer }] of Object.entries(streamingForms)) {
    for (const fault of [...faults, "bytes after the end"] as const) {
      const signed = signChunked("http://a", { method: "PUT", path, body }, accessKey, payload, fault);
      const { time, key, scope } = signed.seed;
      const [day = "", region = "", service = ""] = scope.split("/");
      const signing = { key, time, scope: { day, region, service }, signature: signed.signature };
      const announced = hasTrailer ? ["x-amz-checksum-sha256"] : [];
      const form = { signing: isSigned ? signing : undefined, hasTrailer, announced };
      const results = new Set<string>();
      for (const size of [3, 1000, 50_000]) {
        const stream = unchunk(pieces(signed.body!, size), form, new Map());
        const decoded = async () =>
          createHash("sha256")
            .update(await collect(stream))
            .digest("hex");
        results.add(await settle(decoded()));
        const reader = readChunkedInto(readerOf(signed.body!), createChunkDecoder(form, new Map()));
        results.add(await settle(readAll(reader, size)));
      }
      assert.equal(results.size, 1, `${payload}, ${fault}: ${[...results].join(", ")}`);
      const isFine = fault === "none" || (fault === "wrong signature" && !isSigned);
      const isAbsent = fault === "no trailer" && !hasTrailer;
      const digest = createHash("sha256").update(body).digest("hex");
      assert.equal(results.has(digest), isFine || isAbsent, `${payload}, ${fault}: ${[...results].join()}`);
    }
  }
});

test("chunks larger than a buffer are read into it directly", async () => {
  const body = sampleBytes(900_000);
  const sizes = [400_000, 499_000, 1000];
  let at = 0;
  const encoded = sizes.flatMap((size) => {
    const data = body.subarray(at, at + size);
    at += size;
    return [Buffer.from(`${size.toString(16)}\r\n`), data, Buffer.from("\r\n")];
  });
  const whole = Buffer.concat([...encoded, Buffer.from("0\r\n\r\n")]);
  const form = { signing: undefined, hasTrailer: false, announced: [] };
  const digest = createHash("sha256").update(body).digest("hex");
  for (const bufferBytes of [100_000, 300_000, 2_000_000]) {
    const reader = readChunkedInto(readerOf(whole), createChunkDecoder(form, new Map()));
    assert.equal(await readAll(reader, bufferBytes), digest);
  }
});
