// Bodies in the bucket protocol: streamed both ways with backpressure, and cancelled on disconnect.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { ByteStream, Engine, Source } from "../../../src/engine/engine.ts";
import { sampleBytes } from "../../support/bytes.ts";
import { headerFrame, openScene } from "./scene.ts";

const MiB = 1024 * 1024;
const bodyBytes = 16 * MiB;
/** More than all buffers of Node and the system between the two ends of a socket. */
const maxLead = 4 * MiB;

/** An engine that passes each streamed put through `watch`. */
function watchPuts(watch: (source: ByteStream) => ByteStream) {
  return (engine: Engine): Engine => ({
    ...engine,
    put: (bucket, key, source: Source, options) =>
      engine.put(bucket, key, source instanceof Uint8Array ? source : watch(source), options),
  });
}

function putHead(object: string, length: number): string {
  const metadata = JSON.stringify({ version: 1, method: "put", object });
  return (
    `PUT / HTTP/1.1\r\nhost: x\r\ncf-r2-metadata-size: ${metadata.length}\r\n` +
    `content-length: ${metadata.length + length}\r\n\r\n${metadata}`
  );
}

test("a put is read as the engine stores it, and the engine knows its length", async (t) => {
  let pulled = 0;
  let maxSeen = 0;
  let length: number | undefined;
  let flushed = () => 0;
  const scene = await openScene(
    t,
    watchPuts((source) => {
      length = source.length;
      return {
        length: source.length,
        cancel: (reason) => source.cancel(reason),
        async *chunks() {
          for await (const chunk of source.chunks()) {
            pulled += chunk.length;
            // Let the sender run ahead as far as it can.
            for (let i = 0; i < 4; i++) await setImmediate();
            maxSeen = Math.max(maxSeen, flushed() - pulled);
            yield chunk;
          }
        },
      };
    }),
  );
  const socket = await scene.connect();
  flushed = () => socket.bytesWritten - socket.writableLength;
  const bytes = sampleBytes(bodyBytes);
  socket.write(putHead("large", bytes.length));
  socket.write(bytes);
  const [response] = await once(socket, "data");
  assert.match(String(response), /^HTTP\/1\.1 200 /);
  assert.deepEqual([length, pulled], [bodyBytes, bodyBytes]);
  assert.ok(maxSeen < maxLead, `the sender was ${maxSeen} bytes ahead`);
  assert.equal((await scene.engine.head("bucket", "large"))?.size, bodyBytes);
});

test("a get is read from the engine as the client reads it", async (t) => {
  let produced = 0;
  const watchGets = (engine: Engine): Engine => ({
    ...engine,
    async get(...args) {
      const result = await engine.get(...args);
      if (result.outcome !== "found") return result;
      const { bytes } = result;
      const chunks = async function* () {
        for await (const chunk of bytes.chunks()) {
          produced += chunk.length;
          yield chunk;
        }
      };
      return { ...result, bytes: { ...bytes, inline: undefined, chunks } };
    },
  });
  // A memory engine returns its bytes in one chunk.
  const scene = await openScene(t, watchGets, "local");
  await scene.engine.put("bucket", "large", sampleBytes(bodyBytes));
  const socket = await scene.connect();
  socket.write(
    `GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncf-r2-request: ${headerFrame({ method: "get", object: "large" })}\r\n\r\n`,
  );
  let received = 0;
  let maxSeen = 0;
  for await (const piece of socket) {
    received += (piece as Buffer).length;
    for (let i = 0; i < 4; i++) await setImmediate();
    maxSeen = Math.max(maxSeen, produced - received);
  }
  assert.ok(received > bodyBytes);
  assert.ok(maxSeen < maxLead, `the engine was ${maxSeen} bytes ahead`);
});

async function openCancelScene(t: TestContext) {
  let onPulled = () => {};
  const started = new Promise<void>((resolve) => {
    onPulled = resolve;
  });
  let onFailed = (_: unknown) => {};
  const failed = new Promise<unknown>((resolve) => {
    onFailed = resolve;
  });
  const scene = await openScene(t, (engine) => ({
    ...engine,
    async put(bucket, key, source, options) {
      const { chunks, length, cancel } = source as ByteStream;
      const watched = {
        length,
        cancel,
        async *chunks() {
          for await (const chunk of chunks()) {
            onPulled();
            yield chunk;
          }
        },
      };
      return engine.put(bucket, key, watched, options).catch((error: unknown) => {
        onFailed(error);
        throw error;
      });
    },
  }));
  return { ...scene, started, failed };
}

test("a put whose client disconnects stores nothing and logs nothing", async (t) => {
  const scene = await openCancelScene(t);
  await scene.engine.put("bucket", "a", Buffer.from("before"));
  const socket = await scene.connect();
  socket.write(putHead("a", bodyBytes));
  socket.write(sampleBytes(MiB));
  await scene.started;
  socket.destroy();
  assert.ok((await scene.failed) instanceof Error);
  assert.equal((await scene.engine.head("bucket", "a"))?.size, 6);
  assert.equal((await scene.send({ method: "get", object: "a" })).text, "before");
  assert.deepEqual(scene.log, []);
});

test("a get whose client disconnects cancels the bytes", async (t) => {
  let onCancelled = () => {};
  const cancelled = new Promise<void>((resolve) => {
    onCancelled = resolve;
  });
  const scene = await openScene(t, (engine) => ({
    ...engine,
    async get(...args) {
      const result = await engine.get(...args);
      if (result.outcome !== "found") return result;
      const { bytes } = result;
      const cancel = async () => {
        await bytes.cancel();
        onCancelled();
      };
      return { ...result, bytes: { ...bytes, inline: undefined, cancel } };
    },
  }));
  await scene.engine.put("bucket", "large", sampleBytes(bodyBytes));
  const socket = await scene.connect();
  socket.write(
    `GET / HTTP/1.1\r\nhost: x\r\ncf-r2-request: ${headerFrame({ method: "get", object: "large" })}\r\n\r\n`,
  );
  await once(socket, "data");
  socket.destroy();
  await cancelled;
});

test("a put that is refused answers without storing the body, which may be large", async (t) => {
  const { send, engine } = await openScene(t);
  await engine.put("bucket", "a", Buffer.from("before"));
  const onlyIf = { etagDoesNotMatch: [{ type: "wildcard" }] };
  const { status, code } = await send({ method: "put", object: "a", onlyIf }, sampleBytes(8 * MiB));
  assert.deepEqual([status, code], [412, 10031]);
  assert.equal((await engine.head("bucket", "a"))?.size, 6);
});
