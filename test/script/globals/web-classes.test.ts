// Web classes that older Node versions lack or implement incorrectly, as scripts see them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliCompressSync, brotliDecompressSync, deflateRawSync, gzipSync } from "node:zlib";
import { script } from "./installed.ts";

const { Response } = script;
const { fromAsync } = Array as unknown as {
  fromAsync(source: unknown, map?: (value: number) => number): Promise<unknown[]>;
};

type Format = ConstructorParameters<typeof CompressionStream>[0];

async function through(bytes: Uint8Array, stream: object): Promise<Uint8Array> {
  const piped = new Response(bytes).body!.pipeThrough(stream as TransformStream<Uint8Array, Uint8Array>);
  return new Uint8Array(await new Response(piped).arrayBuffer());
}

const large = Buffer.from("store ".repeat(100_000));

test("compression streams support every format, and their output can be decompressed", async () => {
  for (const format of ["brotli", "deflate", "deflate-raw", "gzip"] as Format[]) {
    const packed = await through(large, new CompressionStream(format));
    assert.ok(packed.length < large.length / 10);
    assert.deepEqual(Buffer.from(await through(packed, new DecompressionStream(format))), large, format);
  }
  const packed = await through(large, new CompressionStream("brotli" as Format));
  assert.deepEqual(brotliDecompressSync(packed), large);
  const unpacked = await through(brotliCompressSync(large), new DecompressionStream("brotli" as Format));
  assert.deepEqual(Buffer.from(unpacked), large);
});

test("DecompressionStream fails with a TypeError on truncated, damaged or trailing data", async () => {
  const packed = gzipSync("hello");
  for (const bytes of [
    packed.subarray(0, -3),
    Buffer.concat([packed, Buffer.from([0])]),
    Buffer.from("no"),
  ]) {
    await assert.rejects(through(bytes, new DecompressionStream("gzip")), TypeError);
  }
  const trailing = Buffer.concat([deflateRawSync("hello"), Buffer.from("junk")]);
  await assert.rejects(through(trailing, new DecompressionStream("deflate-raw")), TypeError);
  const writer = new CompressionStream("gzip").writable.getWriter();
  await assert.rejects(writer.write("text" as never), TypeError);
  assert.throws(() => new CompressionStream("zip" as Format), TypeError);
});

test("a cancelled or aborted compression stream reports no unhandled error", async () => {
  const cancelled = new CompressionStream("gzip");
  await cancelled.readable.cancel("enough");
  await assert.rejects(cancelled.writable.getWriter().write(new Uint8Array(1)));
  const aborted = new DecompressionStream("gzip");
  await aborted.writable.abort(new Error("enough"));
  await assert.rejects(aborted.readable.getReader().read(), /enough/);
});

test("DecompressionStream applies backpressure", async () => {
  const { readable, writable } = new DecompressionStream("gzip");
  const writer = writable.getWriter();
  const reader = readable.getReader();
  const writing = writer.write(gzipSync(Buffer.alloc(20_000_000))).then(() => "taken");
  await reader.read();
  assert.equal(
    await Promise.race([writing, new Promise((done) => setImmediate(done, "waiting"))]),
    "waiting",
  );
  await reader.cancel();
  await writing.catch(() => {});
});

test("TextDecoder decodes single-byte encodings as the standard requires", () => {
  const decode = (label: string, ...bytes: number[]) => new TextDecoder(label).decode(Uint8Array.from(bytes));
  assert.equal(decode("windows-1252", 0x80, 0x93, 0xe9), "€“é");
  assert.equal(decode("latin1", 0x80), "€");
  assert.equal(decode(" ISO-8859-16 ", 0xa4, 0x41), "€A");
  assert.equal(decode("x-user-defined", 0x80), "\uf780");
  assert.equal(decode("koi8-u", 0xae), "ў");
  assert.equal(new TextDecoder("latin1").encoding, "windows-1252");
  assert.throws(() => new TextDecoder("windows-874", { fatal: true }).decode(Uint8Array.of(0xdb)), TypeError);
  assert.equal(new TextDecoder().decode(Buffer.from("grüße")), "grüße");
  assert.equal(new TextDecoder().decode(), "");
});

test("Blob.slice rounds fractions as the standard requires: halves to the nearest even number", async () => {
  const blob = new Blob(["abcd"]) as Blob & { textStream(): ReadableStream<string> };
  assert.equal(await blob.slice(1.5, 3.5).text(), "cd");
  assert.equal(await blob.slice(0, 0.5).text(), "");
  assert.equal(await blob.slice(-2.5).text(), "cd");
  assert.equal(await blob.slice(0, 2, "text/css").text(), "ab");
  assert.equal(blob.slice(0, 2, "text/css").type, "text/css");
  const [text] = await fromAsync(blob.textStream());
  assert.equal(text, "abcd");
});

test("ArrayBuffer.transfer and Array.fromAsync work on every Node version", async () => {
  const buffer = Uint8Array.of(1, 2, 3).buffer as ArrayBuffer & {
    transfer(length?: number): ArrayBuffer;
    readonly detached: boolean;
  };
  const longer = buffer.transfer(4);
  assert.ok(buffer.detached);
  assert.deepEqual([...new Uint8Array(longer)], [1, 2, 3, 0]);
  const list = await fromAsync([1, Promise.resolve(2)], (value: number) => value * 2);
  assert.deepEqual(list, [2, 4]);
});
