// Engine contract: a stream given to the engine is read to its end, or cancelled.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { ByteStream, Engine, PutOptions } from "../../../src/engine/engine.ts";
import type { Reason } from "../../../src/model/errors.ts";
import { assertBytes, sampleBytes } from "../../support/bytes.ts";
import {
  blobsLeft,
  bucket,
  type Chapter,
  contentOf,
  emptied,
  exists,
  failsWith,
  type Probe,
  probe,
} from "./setup.ts";

const wrongMd5 = { algorithm: "md5", value: new Uint8Array(16) } as const;

export const sources: Chapter = async (t, shared) => {
  /** Checks that a put fails with the expected error and leaves the stored object unchanged. */
  async function failingPut(
    engine: Engine,
    reason: Reason,
    source: Probe,
    options?: PutOptions,
  ): Promise<void> {
    const version = (await engine.head(bucket, "a"))?.version;
    await assert.rejects(engine.put(bucket, "a", source, options), { ...failsWith(reason), action: "put" });
    assert.equal((await engine.head(bucket, "a"))?.version, version);
    assert(source.seen.ended || source.seen.cancelled, "the source was read to its end or cancelled");
  }

  await t.test("the source of a successful put is read to its end and not cancelled", async () => {
    const { engine } = await emptied(shared);
    const upload = await engine.createUpload(bucket, "u");
    for (const size of [0, 10, 100_000]) {
      const [whole, part] = [probe(sampleBytes(size)), probe(sampleBytes(size), { length: size })];
      await engine.put(bucket, "a", whole);
      await engine.uploadPart(bucket, upload, 1, part);
      for (const { seen } of [whole, part]) assert.deepEqual([seen.ended, seen.cancelled], [true, false]);
    }
  });

  await t.test("the source of a put refused by a condition is cancelled unread", async () => {
    const { engine } = await emptied(shared);
    await engine.put(bucket, "a", sampleBytes(1));
    const source = probe(sampleBytes(100_000));
    const put = await engine.put(bucket, "a", source, { condition: { etagDoesNotMatch: "*" } });
    assert.equal(put.outcome, "refused");
    assert.deepEqual([source.seen.cancelled, source.seen.pulled], [true, 0]);
  });

  await t.test("the source of a put that fails early is cancelled unread, with the reason", async () => {
    const { engine } = await emptied(shared);
    const tooLong = 5_363_466_241;
    const heavy = { customMetadata: new Map([["n", "x".repeat(8192)]]) };
    const failures: [Reason, (source: Probe) => Promise<unknown>, number?][] = [
      ["NoSuchBucket", (source) => engine.put("absent", "a", source)],
      ["InvalidObjectName", (source) => engine.put(bucket, "x".repeat(1025), source)],
      ["InvalidObjectName", (source) => engine.put(bucket, "\udfff", source)],
      ["MetadataTooLarge", (source) => engine.put(bucket, "a", source, heavy)],
      ["InvalidStorageClass", (source) => engine.put(bucket, "a", source, { storageClass: "Cold" })],
      ["EntityTooLarge", (source) => engine.put(bucket, "a", source), tooLong],
    ];
    for (const [reason, put, length] of failures) {
      const source = probe(sampleBytes(100_000), length === undefined ? {} : { length });
      await assert.rejects(put(source), { ...failsWith(reason), action: "put" });
      assert.deepEqual([source.seen.cancelled, source.seen.pulled], [true, 0], reason);
      assert.equal((source.seen.reason as { reason?: unknown }).reason, reason);
    }
    assert.equal(await exists(engine, "a"), false);
  });

  await t.test("the source of a part for a missing upload is cancelled unread, with the reason", async () => {
    const { engine } = await emptied(shared);
    const upload = await engine.createUpload(bucket, "u");
    const sealed = await engine.createUpload(bucket, "u", { customerKey: sampleBytes(32) });
    const aborted = await engine.createUpload(bucket, "u");
    await engine.abortUpload(bucket, aborted);
    const failures: [Reason, (source: Probe) => Promise<unknown>][] = [
      ["NoSuchBucket", (source) => engine.uploadPart("absent", upload, 1, source)],
      ["NoSuchUpload", (source) => engine.uploadPart(bucket, { key: "u", id: "unknown" }, 1, source)],
      ["NoSuchUpload", (source) => engine.uploadPart(bucket, { key: "other", id: upload.id }, 1, source)],
      ["NoSuchUpload", (source) => engine.uploadPart(bucket, aborted, 1, source)],
      ["InvalidArgument", (source) => engine.uploadPart(bucket, sealed, 1, source)],
      [
        "InvalidArgument",
        (source) => engine.uploadPart(bucket, upload, 1, source, { customerKey: sampleBytes(32) }),
      ],
    ];
    for (const [reason, put] of failures) {
      const source = probe(sampleBytes(100_000));
      await assert.rejects(put(source), { ...failsWith(reason), action: "uploadPart" });
      assert.deepEqual([source.seen.cancelled, source.seen.pulled], [true, 0], reason);
      assert.equal((source.seen.reason as { reason?: unknown }).reason, reason);
    }
  });

  await t.test("a put whose body ends before its declared length fails with IncompleteBody", async () => {
    const opened = await emptied(shared);
    const { engine } = opened;
    await engine.put(bucket, "a", sampleBytes(3));
    for (const size of [0, 10, 5000, 200_000]) {
      await failingPut(engine, "IncompleteBody", probe(sampleBytes(size), { length: size + 1 }));
    }
    const upload = await engine.createUpload(bucket, "u");
    const short = probe(sampleBytes(10), { length: 11 });
    await assert.rejects(engine.uploadPart(bucket, upload, 1, short), failsWith("IncompleteBody"));
    assert.equal(await blobsLeft(opened), 0);
  });

  await t.test(
    "a put whose body is longer than declared fails, and the body is not read to its end",
    async () => {
      const opened = await emptied(shared);
      const { engine } = opened;
      await engine.put(bucket, "a", sampleBytes(3));
      for (const length of [0, 10, 5000]) {
        const source = probe(sampleBytes(1_000_000), { length });
        await failingPut(engine, "IncompleteBody", source);
        assert(source.seen.cancelled);
        assert(source.seen.pulled <= length / 1000 + 2, `${source.seen.pulled} chunks pulled`);
      }
      assert.equal(await blobsLeft(opened), 0);
    },
  );

  await t.test(
    "a put whose stream fails rejects with the stream's error and keeps the old object",
    async () => {
      const opened = await emptied(shared);
      const { engine } = opened;
      await engine.put(bucket, "a", sampleBytes(3));
      const upload = await engine.createUpload(bucket, "u");
      for (const size of [0, 10, 5000, 300_000]) {
        const failure = new Error(`The sender broke off after ${size} bytes`);
        const source = () => probe(sampleBytes(size), { failure });
        await assert.rejects(engine.put(bucket, "a", source()), (error) => error === failure);
        const uploading = engine.uploadPart(bucket, upload, 1, source());
        await assert.rejects(uploading, (error) => error === failure);
      }
      assertBytes(await contentOf(engine, "a"), sampleBytes(3));
      await assert.rejects(
        engine.completeUpload(bucket, upload, [{ number: 1, etag: "" }]),
        failsWith("InvalidPart"),
      );
      assert.equal(await blobsLeft(opened), 0);
    },
  );

  await t.test("a put of a stream with a wrong checksum fails and keeps the old object", async () => {
    const opened = await emptied(shared);
    const { engine } = opened;
    await engine.put(bucket, "a", sampleBytes(3));
    for (const size of [0, 10, 5000, 300_000]) {
      await failingPut(engine, "BadDigest", probe(sampleBytes(size)), { checksums: [wrongMd5] });
    }
    assert.equal(await blobsLeft(opened), 0);
  });

  await t.test(
    "a source that writes into the engine's buffers is stored or refused like any other source",
    async () => {
      const opened = await emptied(shared);
      const { engine } = opened;
      const bytes = sampleBytes(6_300_000);
      const whole = filling(bytes);
      const put = await engine.put(bucket, "a", whole, { checksums: [{ algorithm: "sha256" }] });
      const upload = await engine.createUpload(bucket, "u");
      const part = await engine.uploadPart(bucket, upload, 1, filling(bytes));
      assert(put.outcome === "stored");
      assert.equal(put.record.etag, createHash("md5").update(bytes).digest("hex"));
      assert.equal(part.etag, put.record.etag);
      const sha256 = createHash("sha256").update(bytes).digest();
      assertBytes(put.record.checksums.sha256!, sha256);
      assertBytes(await contentOf(engine, "a"), bytes);
      assert.deepEqual(whole.seen, { left: 1 });

      const failure = new Error("The sender broke off");
      const failures: [ReturnType<typeof filling>, object, PutOptions?][] = [
        [filling(bytes, { length: bytes.length + 1 }), failsWith("IncompleteBody")],
        [filling(bytes, { length: bytes.length - 1 }), failsWith("IncompleteBody")],
        [filling(bytes, { failure }), { message: failure.message }],
        [filling(bytes), failsWith("BadDigest"), { checksums: [wrongMd5] }],
      ];
      for (const [source, expected, options] of failures) {
        await assert.rejects(engine.put(bucket, "a", source, options), expected);
        assert.deepEqual(source.seen, { left: 1 });
      }
      assertBytes(await contentOf(engine, "a"), bytes);
      await engine.abortUpload(bucket, upload);
      await engine.delete(bucket, ["a"]);
      assert.equal(await blobsLeft(opened), 0);
    },
  );
};

/** Returns a stream that can be read only by writing into the reader's buffers. */
function filling(
  bytes: Uint8Array,
  { length = bytes.length, failure }: { length?: number; failure?: Error } = {},
): ByteStream & { readonly seen: { left: number } } {
  const seen = { left: 0 };
  let at = 0;
  const fill = async (into: Buffer) => {
    const piece = bytes.subarray(at, at + into.length);
    at += piece.length;
    if (at === bytes.length && failure !== undefined) throw failure;
    into.set(piece);
    return piece.length;
  };
  const chunks = () => assert.fail("its chunks are not asked for");
  const leave = () => void seen.left++;
  return {
    length,
    seen,
    chunks,
    directReader: () => ({ readInto: fill, close: leave }),
    cancel: async () => {},
  };
}
