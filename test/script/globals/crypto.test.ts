// Additions to Node's crypto for scripts: DigestStream, timingSafeEqual and MD5.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { script, streamOf } from "./installed.ts";

const { DigestStream, subtle } = script.crypto;
const hex = (digest: ArrayBuffer) => Buffer.from(digest).toString("hex");

test("DigestStream computes the digest of all written bytes, for any chunk sizes", async () => {
  const algorithm = fc.constantFrom("MD5", "SHA-1", "SHA-256", "SHA-384", "SHA-512", "sha-256");
  await fc.assert(
    fc.asyncProperty(algorithm, fc.array(fc.uint8Array({ maxLength: 40 })), async (name, pieces) => {
      const stream = new DigestStream(name);
      const writer = stream.getWriter();
      for (const piece of pieces) await writer.write(piece);
      await writer.close();
      const hash = createHash(name.replace("-", ""));
      for (const piece of pieces) hash.update(piece);
      assert.equal(hex(await stream.digest), hash.digest("hex"));
    }),
    { numRuns: 40 },
  );
});

test("a DigestStream accepts bytes and text, piped or written directly, and counts the bytes", async () => {
  const stream = new DigestStream({ name: "SHA-256" });
  assert.ok(stream instanceof WritableStream);
  await streamOf("a", "b").pipeTo(stream);
  assert.ok((await stream.digest) instanceof ArrayBuffer);
  assert.equal(hex(await stream.digest), createHash("sha256").update("ab").digest("hex"));
  assert.equal(stream.bytesWritten, 2n);
  const mixed = new DigestStream("MD5");
  const writer = mixed.getWriter();
  await writer.write("ü");
  await writer.write(new Uint8Array([1, 2, 3]).buffer);
  await writer.write(new DataView(new Uint8Array([4, 5]).buffer, 1));
  await writer.close();
  const expected = createHash("md5")
    .update("ü")
    .update(Buffer.from([1, 2, 3, 5]))
    .digest("hex");
  assert.equal(hex(await mixed.digest), expected);
});

test("the digest promise of an aborted or failed DigestStream rejects", async () => {
  const aborted = new DigestStream("SHA-1");
  await aborted.abort(new Error("enough"));
  await assert.rejects(aborted.digest, /enough/);
  const wrong = new DigestStream("SHA-1");
  await assert.rejects(wrong.getWriter().write(5 as never), TypeError);
  await assert.rejects(wrong.digest, TypeError);
});

test("a DigestStream of an unknown algorithm is refused with a list of the supported algorithms", () => {
  assert.throws(() => new DigestStream("SHA-3"), { name: "NotSupportedError", message: /SHA-3.*SHA-256/ });
});

test("timingSafeEqual returns whether two byte sequences are equal", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  assert.equal(subtle.timingSafeEqual(bytes("secret"), bytes("secret")), true);
  assert.equal(subtle.timingSafeEqual(bytes("secret").buffer, bytes("secreT")), false);
  assert.equal(subtle.timingSafeEqual(new ArrayBuffer(0), new Uint8Array()), true);
  assert.equal(subtle.timingSafeEqual(new DataView(bytes("xabx").buffer, 1, 2), bytes("ab")), true);
});

test("timingSafeEqual throws a TypeError for different lengths and for values that are not bytes", () => {
  assert.throws(() => subtle.timingSafeEqual(new Uint8Array(1), new Uint8Array(2)), TypeError);
  assert.throws(() => subtle.timingSafeEqual("a", "a"), TypeError);
  assert.throws(() => subtle.timingSafeEqual(undefined, new Uint8Array()), TypeError);
});

test("the standard members of crypto work as in Node", async () => {
  const digest = await crypto.subtle.digest("SHA-256", Buffer.from("x"));
  assert.equal(hex(digest), createHash("sha256").update("x").digest("hex"));
  assert.equal(crypto.randomUUID().length, 36);
});

test("subtle.digest supports MD5, given as a string or as an object with a name", async () => {
  const digest = subtle.digest.bind(subtle) as (algorithm: unknown, data: unknown) => Promise<ArrayBuffer>;
  const expected = createHash("md5").update("hello").digest("hex");
  const bytes = new TextEncoder().encode("hello");
  for (const algorithm of ["MD5", "md5", { name: "md5" }]) {
    const found = await digest(algorithm, bytes);
    assert.ok(found instanceof ArrayBuffer);
    assert.equal(hex(found), expected);
  }
  assert.equal(hex(await digest("MD5", bytes.buffer)), expected);
  assert.equal(hex(await digest("SHA-256", bytes)), createHash("sha256").update("hello").digest("hex"));
  await assert.rejects(digest("MD5", "text"), TypeError);
  await assert.rejects(digest("MD4", bytes), { name: "NotSupportedError" });
});
