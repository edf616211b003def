// CompressionStream and DecompressionStream with the same behavior on every Node version. Node's
// own classes differ by version in Brotli, trailing data and backpressure.
import { Buffer } from "node:buffer";
import type { Transform } from "node:stream";
import { ReadableStream, WritableStream } from "node:stream/web";
import { types } from "node:util";
import zlib from "node:zlib";
import { toBytes } from "../../binding/arguments.ts";

type Engine = Transform & { readonly bytesWritten: number };
type Engines = Readonly<Record<string, () => Engine>>;

const compressors: Engines = {
  brotli: () => zlib.createBrotliCompress(),
  deflate: () => zlib.createDeflate(),
  "deflate-raw": () => zlib.createDeflateRaw(),
  gzip: () => zlib.createGzip(),
};

const decompressors: Engines = {
  brotli: () => zlib.createBrotliDecompress(),
  deflate: () => zlib.createInflate(),
  "deflate-raw": () => zlib.createInflateRaw(),
  gzip: () => zlib.createGunzip(),
};

interface Pair {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
}

export class CompressionStream {
  readonly #pair: Pair;

  constructor(format: string) {
    this.#pair = openPair(compressors, format);
  }

  get readable(): ReadableStream<Uint8Array> {
    return this.#pair.readable;
  }

  get writable(): WritableStream<Uint8Array> {
    return this.#pair.writable;
  }
}

export class DecompressionStream {
  readonly #pair: Pair;

  constructor(format: string) {
    this.#pair = openPair(decompressors, format);
  }

  get readable(): ReadableStream<Uint8Array> {
    return this.#pair.readable;
  }

  get writable(): WritableStream<Uint8Array> {
    return this.#pair.writable;
  }
}

for (const { name, prototype } of [CompressionStream, DecompressionStream]) {
  for (const member of ["readable", "writable"]) {
    Object.defineProperty(prototype, member, { enumerable: true });
  }
  Object.defineProperty(prototype, Symbol.toStringTag, { value: name, configurable: true });
}

function openPair(engines: Engines, format: unknown): Pair {
  const open = engines[`${format as string}`];
  if (open !== undefined) return streamPair(open());
  throw new TypeError(`Unknown compression format: use ${Object.keys(engines).join(", ")}.`);
}

/** Applies backpressure in both directions: a write waits until its output has been read. */
function streamPair(engine: Engine): Pair {
  let output: ReadableStreamDefaultController<Uint8Array>;
  let input: WritableStreamDefaultController;
  let inputBytes = 0;
  const readable = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        output = controller;
      },
      pull: () => void engine.resume(),
      cancel(reason) {
        engine.destroy();
        input.error(reason);
      },
    },
    { highWaterMark: 0 },
  );
  engine.pause();
  // Each write reports its own error; without a listener, errors between writes would crash Node.
  engine.on("error", () => {});
  engine.on("data", (chunk: Buffer) => {
    output.enqueue(new Uint8Array(chunk));
    if (!engine.writableEnded && (output.desiredSize ?? 0) <= 0) engine.pause();
  });

  function fail(error: unknown): never {
    engine.destroy();
    output.error(error);
    throw error;
  }

  /** The engine ignores bytes after the end of the compressed data, so they are reported here. */
  function checkTrailing(): void {
    if (engine.bytesWritten < inputBytes)
      fail(new TypeError("There is data after the end of the compressed data."));
  }

  const writable = new WritableStream<Uint8Array>({
    start(controller) {
      input = controller;
    },
    async write(chunk) {
      const bytes = toBytes(chunk);
      if (bytes === undefined || types.isSharedArrayBuffer(bytes.buffer)) {
        return fail(new TypeError("Only an ArrayBuffer or a view of one can be written."));
      }
      inputBytes += bytes.length;
      // Copy the bytes: the engine runs on another thread, and the script may change its buffer.
      await waitForEngine(engine, (done) => engine.write(Buffer.from(bytes), done)).catch(fail);
      checkTrailing();
    },
    async close() {
      await waitForEngine(engine, (done) => {
        engine.once("end", done);
        engine.end();
        engine.resume();
      }).catch(fail);
      checkTrailing();
      output.close();
    },
    abort(reason) {
      engine.destroy();
      output.error(reason);
    },
  });
  return { readable, writable };
}

function waitForEngine(engine: Engine, start: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error) => reject(new TypeError(error.message, { cause: error }));
    engine.once("error", onError);
    start((error) => {
      engine.off("error", onError);
      if (error) onError(error);
      else resolve();
    });
  });
}
